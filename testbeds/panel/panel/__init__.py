"""A small panel with Marzban's API that manages the users of an xray, for Windtunnel to measure."""
