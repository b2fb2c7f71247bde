"""Small scripts that run in each tool's environment; they know the standard library and the tool."""
