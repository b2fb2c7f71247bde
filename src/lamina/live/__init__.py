"""What runs beside a host: the hook command, the card it prints, the spool, and the worker."""
