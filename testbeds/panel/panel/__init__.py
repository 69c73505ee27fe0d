"""A small panel that administers the users of an xray, with Marzban's API, for Windtunnel to measure."""
