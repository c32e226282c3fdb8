//! What a report says beside the claims of Khanna, Singh and Swaroop (2014).

pub(crate) const NOTE: &str = "\
<p>The paper does not say how long a message takes, what light, medium and heavy churn are, nor at which load it was measured; the \
figures say how that was set here. It does say that this time is unpredictable: every claim is judged with messages that take the same \
time always, and with messages whose times vary around the same mean. Times are in seconds. Where \
nodes come and go, a waiting time can be read in two ways: <em>in all</em>, \
from the application’s request, in every neighbourhood that it passes through until it is served, with every interruption of its CS; or \
<em>where it was served</em>, which leaves out what was waited elsewhere in vain. All repairs are in force.</p>\n";
