//! What a report says beside the claims of Jiang (2003).

pub(crate) const NOTE: &str = "\
<p>The paper measures nothing, so the setting is ours. <em>hok</em>: the highest priority first, and every grant makes whoever waits more \
urgent by one; <em>hok-strict</em>: without that; <em>hok-fewest</em>: the fewest units first; <em>hok-edf</em>: the earliest deadline first; \
<em>hok-fcfs</em>: first come, first served, the algorithm that the paper sets out to improve on. All repairs are in force.</p>\n";
