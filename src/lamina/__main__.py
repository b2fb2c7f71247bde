"""`python -m lamina` is the `lamina` command."""

from lamina.interfaces.cli.main import main

raise SystemExit(main())
