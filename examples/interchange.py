"""Convert from pandas, Arrow, scipy and networkx, and to networkx, igraph, scipy and pandas."""

import networkx
import pandas
import pyarrow
import scipy.sparse

import topicloom
from topicloom import Interest

pairs = [("a", "news"), ("a", "sport"), ("b", "news"), ("b", "sport"), ("c", "sport"), ("d", "news")]
frame = pandas.DataFrame(pairs, columns=["node", "topic"])
bipartite = networkx.Graph()
bipartite.add_nodes_from(frame["node"], bipartite=0)
bipartite.add_nodes_from(frame["topic"], bipartite=1)
bipartite.add_edges_from(pairs)
matrix = scipy.sparse.csr_array([[1, 1], [1, 1], [0, 1], [1, 0]])

interest = Interest.from_pairs(pairs)
assert interest == Interest.from_pandas(frame)
assert interest == Interest.from_arrow(pyarrow.Table.from_pandas(frame))
assert interest == Interest.from_networkx(bipartite)
assert interest == Interest.from_scipy(matrix, node_ids="abcd", topic_ids=["news", "sport"])

overlay = topicloom.build(interest, algorithm="gm").overlay
print(overlay.to_pandas().to_string(index=False))
print("networkx:", overlay.to_networkx())
print("igraph:  ", overlay.to_igraph().summary(verbosity=0))
print("scipy:   ", overlay.to_scipy().shape, "adjacency with", overlay.to_scipy().nnz, "entries")
