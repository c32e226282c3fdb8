//! Who is in which neighbourhood.

use driftlock_protocol::NodeId;

use super::Site;

/// Where every node is now: in one neighbourhood or in none.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Membership {
    /// By node.
    sites: Vec<Option<Site>>,
    /// By neighbourhood, in growing order.
    members: Vec<Vec<NodeId>>,
}

impl Membership {
    /// Nobody is anywhere.
    pub fn new(nodes: u32, sites: u32) -> Self {
        Self { sites: vec![None; nodes as usize], members: vec![Vec::new(); sites as usize] }
    }

    /// The neighbourhood that `node` is in.
    pub fn site_of(&self, node: NodeId) -> Option<Site> {
        self.sites[node.index()]
    }

    /// Who is in the neighbourhood, in growing order.
    pub fn members(&self, site: Site) -> &[NodeId] {
        &self.members[site.index()]
    }

    /// `node` is somewhere else now; tells where it was. It is in no two neighbourhoods even for a moment.
    pub fn pass(&mut self, node: NodeId, to: Option<Site>) -> Option<Site> {
        let left = std::mem::replace(&mut self.sites[node.index()], to);
        if let Some(site) = left {
            self.members[site.index()].retain(|&member| member != node);
        }
        if let Some(site) = to {
            let members = &mut self.members[site.index()];
            let at = members.partition_point(|&member| member < node);
            members.insert(at, node);
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Site = Site(0);
    const THERE: Site = Site(1);

    #[test]
    fn a_node_is_in_one_neighbourhood_or_in_none() {
        let mut membership = Membership::new(3, 2);
        assert_eq!(membership.site_of(NodeId(2)), None);
        assert_eq!(membership.pass(NodeId(2), Some(HERE)), None);
        assert_eq!(membership.pass(NodeId(0), Some(HERE)), None);
        assert_eq!(membership.members(HERE), [NodeId(0), NodeId(2)]);
        assert_eq!(membership.pass(NodeId(2), Some(THERE)), Some(HERE));
        assert_eq!((membership.members(HERE), membership.members(THERE)), (&[NodeId(0)][..], &[NodeId(2)][..]));
        assert_eq!(membership.site_of(NodeId(2)), Some(THERE));
        assert_eq!(membership.pass(NodeId(2), None), Some(THERE));
        assert!(membership.members(THERE).is_empty());
    }

    #[test]
    fn whoever_stays_where_it_is_is_counted_once() {
        let mut membership = Membership::new(1, 1);
        membership.pass(NodeId(0), Some(HERE));
        assert_eq!(membership.pass(NodeId(0), Some(HERE)), Some(HERE));
        assert_eq!(membership.members(HERE), [NodeId(0)]);
    }
}
