"""From a query to scenes: the query language, candidates, fusion, reranking, and the reason for each row."""
