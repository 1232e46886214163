"""Questions asked of the graph, and their answers for people and programs."""
