//! What a report says beside what is promised of crowds.

pub(crate) const NOTE: &str = "\
<p>No paper speaks of crowds. What is judged is what docs/link-layer.md promises of the link layer that KRL, KRLF and h of k stand \
on over radios. Counting begins after 300 seconds, when links have formed. The offered load is that of all nodes together; where the \
CS takes a millisecond it is the network that limits what is served, and where it takes a second, with 0.2 requests in a second, \
nodes mostly wait for the network alone. All repairs are in force. H of k serves in the order of asking, which nodes \
that ask again at once keep for ever: where they began while links formed, that order is a long way round.</p>\n";
