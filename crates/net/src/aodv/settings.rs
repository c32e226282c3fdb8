//! The constants of RFC 3561, section 10, under their own names.

use serde::{Deserialize, Serialize};

use crate::Span;
use crate::seconds;

/// When a node says hello, so that its neighbours notice when it is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hello {
    /// Never: the layer below tells what it could not send.
    #[default]
    Off,
    /// As the RFC advises, while it has a valid route.
    Active,
    /// Always, so that adverts spread to neighbours without any request.
    Always,
}

/// Every constant of the router. The defaults are the RFC's; what the RFC derives from other constants is derived
/// unless it is given. Spans are in seconds in a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Settings {
    /// `ACTIVE_ROUTE_TIMEOUT`: how long a route is valid after it was used. The RFC wants 10 s or more where the link
    /// layer tells what it could not send.
    #[serde(with = "seconds")]
    pub active_route_timeout: Span,
    /// `ALLOWED_HELLO_LOSS`: how many hellos a neighbour may miss.
    pub allowed_hello_loss: u32,
    /// `HELLO_INTERVAL`.
    #[serde(with = "seconds")]
    pub hello_interval: Span,
    /// Whether hellos are sent, and when.
    pub hello: Hello,
    /// `NET_DIAMETER`: how many hops two nodes can be apart.
    pub net_diameter: u8,
    /// `NODE_TRAVERSAL_TIME`: a careful estimate of the time for a hop.
    #[serde(with = "seconds")]
    pub node_traversal_time: Span,
    /// `RREQ_RETRIES`: how often a request is repeated at the largest TTL.
    pub rreq_retries: u32,
    /// `RREQ_RATELIMIT`: how many requests of its own a node sends in a second.
    pub rreq_ratelimit: u32,
    /// `RERR_RATELIMIT`: how many errors a node sends in a second.
    pub rerr_ratelimit: u32,
    /// `TIMEOUT_BUFFER`: hops that the waiting time of a ring allows for congestion.
    pub timeout_buffer: u8,
    /// `TTL_START`: the radius of the first ring. It decides how long the first route to a far node takes.
    pub ttl_start: u8,
    /// `TTL_INCREMENT`: how much wider the next ring is.
    pub ttl_increment: u8,
    /// `TTL_THRESHOLD`: beyond it the whole network is asked.
    pub ttl_threshold: u8,
    /// The `D` flag: only the destination itself may answer.
    pub destination_only: bool,
    /// The `G` flag: an intermediate node that answers tells the destination as well.
    pub gratuitous: bool,
    /// The `A` flag: a reply is to be acknowledged, and who does not is put on the blacklist. For links that may be
    /// one-sided where the layer below does not tell what it could not send.
    pub acknowledge_replies: bool,
    /// `MY_ROUTE_TIMEOUT`: how long a route to this node is valid at first.
    #[serde(with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    pub my_route_timeout: Option<Span>,
    /// `NET_TRAVERSAL_TIME`.
    #[serde(with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    pub net_traversal_time: Option<Span>,
    /// `PATH_DISCOVERY_TIME`: how long a request is remembered.
    #[serde(with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    pub path_discovery_time: Option<Span>,
    /// `BLACKLIST_TIMEOUT`: how long requests of a node are ignored that a reply did not reach.
    #[serde(with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    pub blacklist_timeout: Option<Span>,
    /// `DELETE_PERIOD`: how long an invalid route is remembered. Freedom from loops rests on it.
    #[serde(with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    pub delete_period: Option<Span>,
    /// `NEXT_HOP_WAIT`: how long a reply waits for its acknowledgement.
    #[serde(with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    pub next_hop_wait: Option<Span>,
    /// How many packets of its own wait for routes. Not in the RFC.
    pub queue_length: usize,
    /// How long they wait at most. Not in the RFC.
    #[serde(with = "seconds")]
    pub queue_timeout: Span,
    /// Broadcasts are put off by up to this, so that neighbours do not all repeat a request at once. Not in the RFC.
    #[serde(with = "seconds")]
    pub jitter: Span,
    /// How late the layer above may hear that a route has expired: a router goes through its table as often. Not in the
    /// RFC; the route is not used any more in any case. If no layer listens, [`Span::FOREVER`] saves the work.
    #[serde(with = "seconds")]
    pub sweep_interval: Span,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            active_route_timeout: Span::from_millis(3_000),
            allowed_hello_loss: 2,
            hello_interval: Span::from_millis(1_000),
            hello: Hello::Off,
            net_diameter: 35,
            node_traversal_time: Span::from_millis(40),
            rreq_retries: 2,
            rreq_ratelimit: 10,
            rerr_ratelimit: 10,
            timeout_buffer: 2,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            destination_only: false,
            gratuitous: false,
            acknowledge_replies: false,
            my_route_timeout: None,
            net_traversal_time: None,
            path_discovery_time: None,
            blacklist_timeout: None,
            delete_period: None,
            next_hop_wait: None,
            queue_length: 64,
            queue_timeout: Span::from_millis(30_000),
            jitter: Span::from_millis(10),
            sweep_interval: Span::from_millis(500),
        }
    }
}

impl Settings {
    /// The constants of ns-3 3.37 where they differ from the RFC's: all nodes always say hello, routes to a node
    /// itself are valid for longer, and intermediate nodes that answer tell the destination.
    pub fn ns3() -> Self {
        let standard = Self::default();
        let my_route_timeout = Some(standard.path_discovery_time() * 2);
        let blacklist_timeout = Some(standard.net_traversal_time() * 2);
        Self { hello: Hello::Always, gratuitous: true, my_route_timeout, blacklist_timeout, ..standard }
    }

    /// `MY_ROUTE_TIMEOUT`, by default twice `ACTIVE_ROUTE_TIMEOUT`.
    pub fn my_route_timeout(&self) -> Span {
        self.my_route_timeout.unwrap_or_else(|| self.active_route_timeout * 2)
    }

    /// `NET_TRAVERSAL_TIME`, by default there and back over the diameter.
    pub fn net_traversal_time(&self) -> Span {
        self.net_traversal_time.unwrap_or_else(|| self.node_traversal_time * (2 * u64::from(self.net_diameter)))
    }

    /// `PATH_DISCOVERY_TIME`, by default twice `NET_TRAVERSAL_TIME`.
    pub fn path_discovery_time(&self) -> Span {
        self.path_discovery_time.unwrap_or_else(|| self.net_traversal_time() * 2)
    }

    /// `BLACKLIST_TIMEOUT`, by default as long as a whole search may take, rings included.
    pub fn blacklist_timeout(&self) -> Span {
        let span = u64::from(self.ttl_threshold.saturating_sub(self.ttl_start));
        let rings = span / u64::from(self.ttl_increment.max(1)) + 1 + u64::from(self.rreq_retries);
        self.blacklist_timeout.unwrap_or_else(|| self.net_traversal_time() * rings)
    }

    /// `DELETE_PERIOD`, by default five times the longer of `ACTIVE_ROUTE_TIMEOUT` and `HELLO_INTERVAL`.
    pub fn delete_period(&self) -> Span {
        self.delete_period.unwrap_or_else(|| self.active_route_timeout.max(self.hello_interval) * 5)
    }

    /// `NEXT_HOP_WAIT`, by default 10 ms more than `NODE_TRAVERSAL_TIME`.
    pub fn next_hop_wait(&self) -> Span {
        self.next_hop_wait.unwrap_or(self.node_traversal_time + Span::from_millis(10))
    }

    /// `RING_TRAVERSAL_TIME` of a ring with this radius.
    pub fn ring_traversal_time(&self, ttl: u8) -> Span {
        self.node_traversal_time * (2 * (u64::from(ttl) + u64::from(self.timeout_buffer)))
    }

    /// How long a neighbour may be silent that says hello.
    pub fn hello_timeout(&self) -> Span {
        self.hello_interval * u64::from(self.allowed_hello_loss)
    }

    /// The lifetime that a request gives to the route back to its originator.
    pub(super) fn reverse_lifetime(&self, hops: u8) -> Span {
        let spent = self.there_and_back() * u64::from(hops);
        (self.net_traversal_time() * 2).saturating_sub(spent)
    }

    /// How much earlier than its next hop a node forgets a route: what it sends until then is forwarded.
    pub(super) fn there_and_back(&self) -> Span {
        self.node_traversal_time * 2
    }
}
