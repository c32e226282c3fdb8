//! Who hears whom, and when.
