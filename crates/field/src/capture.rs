//! What went over the air, as a file for Wireshark: pcapng.
//!
//! Every node is an interface. A transmission is recorded where it was sent, when it begins; a reception where it was
//! received, when the transmission ends. Radios tell of both if they are [watched](crate::radio::Air::set_watched).
//! Packets are Ethernet, IPv4 and UDP around the bytes of [`driftlock_net::wire`]; the times are those of the
//! simulation, in nanoseconds from 1970 on. The radio's own acknowledgements are not recorded. docs/pcap.md says how to
//! look at it.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use driftlock_net::Time;
use driftlock_net::wire::Datagram;
use driftlock_protocol::NodeId;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};

/// A file that is being written. What is written should be buffered: each packet is some small pieces.
pub struct Capture<W: Write> {
    file: PcapNgWriter<W>,
    /// A buffer: the packet in the making.
    frame: Vec<u8>,
}

/// Of the option `epb_flags`.
const INBOUND: u32 = 0b01;
const OUTBOUND: u32 = 0b10;
const UNICAST: u32 = 0b001 << 2;
const BROADCAST: u32 = 0b011 << 2;

/// Times count in units of 10^-9 s. It must be said in any case: without it readers take them for microseconds.
const NANOSECONDS: u8 = 9;

impl<W: Write> Capture<W> {
    /// A file with an interface for each of the nodes 0 to `nodes` - 1.
    pub fn new(writer: W, nodes: u32) -> io::Result<Self> {
        let application = concat!("driftlock ", env!("CARGO_PKG_VERSION"));
        let section = SectionHeaderBlock {
            // The same bytes on every machine.
            endianness: Endianness::Little,
            options: vec![SectionHeaderOption::UserApplication(application.into())],
            ..SectionHeaderBlock::default()
        };
        let mut file = PcapNgWriter::with_section_header(writer, section).map_err(io_error)?;
        for node in (0..nodes).map(NodeId) {
            let options = vec![
                InterfaceDescriptionOption::IfName(format!("node {node}").into()),
                InterfaceDescriptionOption::IfMacAddr(mac(Some(node)).to_vec().into()),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ];
            let interface = InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: 0, options };
            file.write_pcapng_block(interface).map_err(io_error)?;
        }
        Ok(Self { file, frame: Vec::new() })
    }

    /// A transmission begins, to a neighbour or to all. An attempt after the first one is noted in a comment.
    pub fn sent(
        &mut self,
        now: Time,
        from: NodeId,
        to: Option<NodeId>,
        attempt: u32,
        datagram: &Datagram,
    ) -> io::Result<()> {
        let comment = (attempt > 1).then(|| EnhancedPacketOption::Comment(format!("attempt {attempt}").into()));
        self.write(now, from, OUTBOUND, (from, to), datagram, comment)
    }

    /// A transmission has been received.
    pub fn heard(
        &mut self,
        now: Time,
        at: NodeId,
        from: NodeId,
        to: Option<NodeId>,
        datagram: &Datagram,
    ) -> io::Result<()> {
        self.write(now, at, INBOUND, (from, to), datagram, None)
    }

    /// Writes out what is buffered, and gives the writer back.
    pub fn finish(self) -> io::Result<W> {
        let mut writer = self.file.into_inner();
        writer.flush()?;
        Ok(writer)
    }

    fn write(
        &mut self,
        now: Time,
        interface: NodeId,
        direction: u32,
        (from, to): (NodeId, Option<NodeId>),
        datagram: &Datagram,
        comment: Option<EnhancedPacketOption>,
    ) -> io::Result<()> {
        self.frame.clear();
        frame(from, to, datagram, &mut self.frame)?;
        let reach = if to.is_some() { UNICAST } else { BROADCAST };
        let mut options = vec![EnhancedPacketOption::Flags(direction | reach)];
        options.extend(comment);
        let block = EnhancedPacketBlock {
            interface_id: interface.0,
            timestamp: Duration::from_nanos(now.0),
            original_len: u32::try_from(self.frame.len()).map_err(io::Error::other)?,
            data: Cow::Borrowed(&self.frame),
            options,
        };
        self.file.write_pcapng_block(block).map_err(io_error)?;
        Ok(())
    }
}

/// The made-up MAC address of a node, or of all: 02 marks one that no manufacturer has given.
fn mac(node: Option<NodeId>) -> [u8; 6] {
    let Some(node) = node else { return [0xFF; 6] };
    let [a, b, c, d] = node.0.to_be_bytes();
    [0x02, 0, a, b, c, d]
}

const ETHERTYPE_IPV4: u16 = 0x0800;
const IP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const UDP: u8 = 17;

/// Ethernet, IPv4, UDP, payload.
fn frame(from: NodeId, to: Option<NodeId>, datagram: &Datagram, frame: &mut Vec<u8>) -> io::Result<()> {
    let too_long = |_| io::Error::new(io::ErrorKind::InvalidInput, "more than 65535 bytes do not fit into IPv4");
    let udp_length = UDP_HEADER + datagram.payload.len();
    let ip_length = u16::try_from(IP_HEADER + udp_length).map_err(too_long)?;
    frame.extend(mac(to));
    frame.extend(mac(Some(from)));
    frame.extend(ETHERTYPE_IPV4.to_be_bytes());
    frame.extend(ip_header(datagram, ip_length));
    frame.extend(udp_header(datagram, u16::try_from(udp_length).map_err(too_long)?));
    frame.extend(&datagram.payload);
    Ok(())
}

/// RFC 791. Never in fragments, so it needs no identification.
fn ip_header(datagram: &Datagram, length: u16) -> [u8; IP_HEADER] {
    let mut header = [0; IP_HEADER];
    header[0] = 0x45; // version 4, five words
    header[2..4].copy_from_slice(&length.to_be_bytes());
    header[6] = 0x40; // do not fragment
    header[8] = datagram.ttl;
    header[9] = UDP;
    header[12..16].copy_from_slice(&datagram.source.octets());
    header[16..20].copy_from_slice(&datagram.destination.octets());
    let checksum = !sum(&header, 0);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}

/// RFC 768.
fn udp_header(datagram: &Datagram, length: u16) -> [u8; UDP_HEADER] {
    let mut header = [0; UDP_HEADER];
    header[0..2].copy_from_slice(&datagram.port.to_be_bytes());
    header[2..4].copy_from_slice(&datagram.port.to_be_bytes());
    header[4..6].copy_from_slice(&length.to_be_bytes());
    let mut checksum = sum(&datagram.source.octets(), 0);
    checksum = sum(&datagram.destination.octets(), checksum);
    checksum = sum(&[0, UDP], checksum);
    checksum = sum(&length.to_be_bytes(), checksum);
    checksum = sum(&header, checksum);
    checksum = sum(&datagram.payload, checksum);
    // Zero would say that there is none.
    let checksum = if checksum == u16::MAX { checksum } else { !checksum };
    header[6..8].copy_from_slice(&checksum.to_be_bytes());
    header
}

/// The sum of RFC 1071: of words of 16 bits, the carry added at the lower end. The last byte of an odd number is
/// followed by zero.
fn sum(bytes: &[u8], before: u16) -> u16 {
    bytes.chunks(2).fold(before, |sum, pair| {
        let word = u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        PcapError::InvalidInterfaceId(node) => {
            io::Error::new(io::ErrorKind::InvalidInput, format!("there is no node {node} in this capture"))
        }
        other => io::Error::other(other),
    }
}
