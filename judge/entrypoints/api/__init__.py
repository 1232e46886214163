"""The HTTP interface, on Litestar."""
