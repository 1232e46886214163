"""The other side: the same facts retold from their view, judged with the same references."""
