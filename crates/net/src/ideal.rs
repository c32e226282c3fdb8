//! The ideal layers: exact, cloneable and hashable. The twins are beside the algorithms, which are written against what
//! they tell (`driftlock_protocol::ideal`).

mod topology;

pub use driftlock_protocol::ideal::Fate;
pub use topology::Topology;
