"""From a query to scenes: the query language, candidates, fusion, reranking, and the reasons of each row."""
