// The field of `driftlock traffic` in ns-3: nodes that move by random waypoint, 802.11b in ad hoc mode, AODV, and 64-byte requests
// over UDP to random nodes, each of which is answered. Prints one JSON object with the keys of `driftlock traffic --format json`
// that both have, and the CPU time of the process.
//
// Everything that is not set here is ns-3's default. What is set, and why, is in docs/field-benchmarks.md.

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <vector>

#include "ns3/aodv-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

using namespace ns3;

namespace {

constexpr uint16_t kPort = 9;
constexpr uint16_t kAodvPort = 654;
constexpr uint32_t kBytes = 64;

enum Kind : uint8_t { kRequest = 1, kReply = 2 };

// A request and what became of it, in seconds.
struct Exchange {
    double sent = 0;
    bool hasArrived = false;
    double answered = -1;
};

// What routers handed to the layer below, counted at every hop.
struct Packets {
    uint64_t requests = 0, replies = 0, errors = 0, hellos = 0, acknowledgements = 0, data = 0;
};

// What radios put on the air. Only counted with --radio, because it costs time.
struct Frames {
    uint64_t aodv = 0, data = 0, arp = 0, acks = 0, retries = 0;
};

class Field {
  public:
    uint32_t nodes = 50;
    double density = 50;
    double range = 200;
    double speedMin = 0.1, speedMax = 8;
    double period = 10;
    double seconds = 300, grace = 10;
    bool hello = true;
    bool arp = true;
    bool radio = false;

    void Build();
    void Report() const;

  private:
    void KnowAddresses(const NetDeviceContainer& devices);
    void Expect(uint32_t node);
    void Ask(uint32_t node);
    void Send(uint32_t node, const Address& to, Kind kind, uint32_t number);
    void Receive(Ptr<Socket> socket);
    void OnTransmit(Ptr<const Packet> packet, Ptr<Ipv4> ipv4, uint32_t interface);
    void OnAir(Ptr<const Packet> packet, double power);

    std::vector<Ptr<Socket>> m_sockets;
    Ipv4InterfaceContainer m_addresses;
    Ptr<ExponentialRandomVariable> m_wait;
    Ptr<UniformRandomVariable> m_uniform;
    std::vector<Exchange> m_exchanges;
    Packets m_packets;
    Frames m_frames;
};

void
Field::Build()
{
    NodeContainer all;
    all.Create(nodes);

    const double side = std::sqrt(nodes / density) * 1000;
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::SteadyStateRandomWaypointMobilityModel",
                              "MinSpeed", DoubleValue(speedMin),
                              "MaxSpeed", DoubleValue(speedMax),
                              "MinPause", DoubleValue(0),
                              "MaxPause", DoubleValue(0),
                              "MaxX", DoubleValue(side),
                              "MaxY", DoubleValue(side));
    mobility.Install(all);

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(range));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue("DsssRate11Mbps"),
                                 "ControlMode", StringValue("DsssRate1Mbps"));
    NetDeviceContainer devices = wifi.Install(phy, mac, all);

    AodvHelper aodv;
    aodv.Set("EnableHello", BooleanValue(hello));
    InternetStackHelper internet;
    internet.SetRoutingHelper(aodv);
    internet.Install(all);
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.0.0");
    m_addresses = address.Assign(devices);
    if (!arp)
    {
        KnowAddresses(devices);
    }

    m_wait = CreateObject<ExponentialRandomVariable>();
    m_wait->SetAttribute("Mean", DoubleValue(period));
    m_uniform = CreateObject<UniformRandomVariable>();
    for (uint32_t node = 0; node < nodes; ++node)
    {
        Ptr<Socket> socket = Socket::CreateSocket(all.Get(node), UdpSocketFactory::GetTypeId());
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), kPort));
        socket->SetRecvCallback(MakeCallback(&Field::Receive, this));
        m_sockets.push_back(socket);
        all.Get(node)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
            "Tx", MakeCallback(&Field::OnTransmit, this));
        if (radio)
        {
            DynamicCast<WifiNetDevice>(devices.Get(node))
                ->GetPhy()
                ->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Field::OnAir, this));
        }
        Expect(node);
    }
}

// Everybody knows everybody's hardware address from the start.
void
Field::KnowAddresses(const NetDeviceContainer& devices)
{
    for (uint32_t node = 0; node < nodes; ++node)
    {
        auto [ipv4, interface] = m_addresses.Get(node);
        Ptr<ArpCache> cache = DynamicCast<Ipv4L3Protocol>(ipv4)->GetInterface(interface)->GetArpCache();
        for (uint32_t other = 0; other < nodes; ++other)
        {
            ArpCache::Entry* entry = cache->Add(m_addresses.GetAddress(other));
            entry->SetMacAddress(devices.Get(other)->GetAddress());
            entry->MarkPermanent();
        }
    }
}

void
Field::Expect(uint32_t node)
{
    const Time wait = Seconds(m_wait->GetValue());
    if (Simulator::Now() + wait < Seconds(seconds))
    {
        Simulator::ScheduleWithContext(node, wait, &Field::Ask, this, node);
    }
}

void
Field::Ask(uint32_t node)
{
    Expect(node);
    uint32_t other = m_uniform->GetInteger(0, nodes - 2);
    other += other >= node;
    m_exchanges.push_back({Simulator::Now().GetSeconds()});
    Send(node, InetSocketAddress(m_addresses.GetAddress(other), kPort), kRequest, m_exchanges.size() - 1);
}

void
Field::Send(uint32_t node, const Address& to, Kind kind, uint32_t number)
{
    uint8_t bytes[kBytes] = {kind};
    for (int place = 0; place < 4; ++place)
    {
        bytes[1 + place] = number >> (8 * place);
    }
    m_sockets[node]->SendTo(Create<Packet>(bytes, kBytes), 0, to);
}

void
Field::Receive(Ptr<Socket> socket)
{
    Address from;
    while (Ptr<Packet> packet = socket->RecvFrom(from))
    {
        uint8_t bytes[kBytes];
        packet->CopyData(bytes, kBytes);
        uint32_t number = 0;
        for (int place = 0; place < 4; ++place)
        {
            number |= uint32_t(bytes[1 + place]) << (8 * place);
        }
        Exchange& exchange = m_exchanges.at(number);
        if (bytes[0] == kReply)
        {
            exchange.answered = exchange.answered < 0 ? Simulator::Now().GetSeconds() : exchange.answered;
        }
        else if (!exchange.hasArrived)
        {
            exchange.hasArrived = true;
            Send(socket->GetNode()->GetId(), from, kReply, number);
        }
    }
}

void
Field::OnTransmit(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t interface)
{
    // Interface 0 is the loopback, where packets wait for their routes.
    if (interface == 0)
    {
        return;
    }
    Ptr<Packet> copy = packet->Copy();
    Ipv4Header ip;
    UdpHeader udp;
    copy->RemoveHeader(ip);
    if (ip.GetProtocol() != UdpL4Protocol::PROT_NUMBER || !copy->RemoveHeader(udp))
    {
        return;
    }
    if (udp.GetDestinationPort() != kAodvPort)
    {
        ++m_packets.data;
        return;
    }
    aodv::TypeHeader type;
    copy->RemoveHeader(type);
    switch (type.Get())
    {
    case aodv::AODVTYPE_RREQ:
        ++m_packets.requests;
        break;
    case aodv::AODVTYPE_RREP:
        // A hello is a reply to everybody.
        ++(ip.GetDestination() == Ipv4Address("10.0.255.255") || ip.GetDestination().IsBroadcast() ? m_packets.hellos
                                                                                                  : m_packets.replies);
        break;
    case aodv::AODVTYPE_RERR:
        ++m_packets.errors;
        break;
    case aodv::AODVTYPE_RREP_ACK:
        ++m_packets.acknowledgements;
        break;
    }
}

void
Field::OnAir(Ptr<const Packet> packet, double)
{
    Ptr<Packet> copy = packet->Copy();
    WifiMacHeader mac;
    copy->RemoveHeader(mac);
    if (!mac.IsData())
    {
        ++m_frames.acks;
        return;
    }
    m_frames.retries += mac.IsRetry();
    LlcSnapHeader llc;
    copy->RemoveHeader(llc);
    if (llc.GetType() == ArpL3Protocol::PROT_NUMBER)
    {
        ++m_frames.arp;
        return;
    }
    Ipv4Header ip;
    UdpHeader udp;
    copy->RemoveHeader(ip);
    copy->RemoveHeader(udp);
    ++(udp.GetDestinationPort() == kAodvPort ? m_frames.aodv : m_frames.data);
}

void
Field::Report() const
{
    uint64_t arrived = 0;
    double sum = 0;
    std::vector<double> spans;
    for (const Exchange& exchange : m_exchanges)
    {
        arrived += exchange.hasArrived;
        if (exchange.answered >= 0)
        {
            spans.push_back(exchange.answered - exchange.sent);
            sum += spans.back();
        }
    }
    std::sort(spans.begin(), spans.end());
    const double requests = m_exchanges.size();
    const Packets& p = m_packets;
    const uint64_t routing = p.requests + p.replies + p.errors + p.hellos + p.acknowledgements;
    const size_t last = spans.empty() ? 0 : spans.size() - 1;
    if (spans.empty())
    {
        spans.push_back(-1);
    }
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) { return time.tv_sec + time.tv_usec / 1e6; };
    std::cout << "{\"requests\": " << m_exchanges.size()
              << ", \"requests-received\": " << arrived
              << ", \"replies-received\": " << (sum > 0 ? last + 1 : 0)
              << ", \"delivery\": " << (sum > 0 ? last + 1 : 0) / requests
              << ", \"one-way\": " << arrived / requests
              << ", \"round-trip\": {\"mean\": " << sum / (last + 1)
              << ", \"p50\": " << spans[last / 2]
              << ", \"p95\": " << spans[last * 19 / 20]
              << "}, \"packets\": {\"requests\": " << p.requests
              << ", \"replies\": " << p.replies
              << ", \"errors\": " << p.errors
              << ", \"hellos\": " << p.hellos
              << ", \"acknowledgements\": " << p.acknowledgements
              << ", \"data\": " << p.data
              << "}, \"routing-per-message\": " << routing / (requests + arrived)
              << ", \"hops-per-message\": " << p.data / (requests + arrived)
              << ", \"events\": " << Simulator::GetEventCount();
    if (radio)
    {
        std::cout << ", \"frames\": {\"aodv\": " << m_frames.aodv
                  << ", \"data\": " << m_frames.data
                  << ", \"arp\": " << m_frames.arp
                  << ", \"acks\": " << m_frames.acks
                  << ", \"retries\": " << m_frames.retries << "}";
    }
    std::cout << ", \"cpu\": " << seconds(usage.ru_utime) + seconds(usage.ru_stime)
              << ", \"memory-kb\": " << usage.ru_maxrss << "}" << std::endl;
}

} // namespace

int
main(int argc, char* argv[])
{
    Field field;
    uint32_t seed = 1;
    CommandLine line;
    line.AddValue("nodes", "How many nodes", field.nodes);
    line.AddValue("density", "Nodes per square kilometre", field.density);
    line.AddValue("range", "How far a radio reaches, in metres", field.range);
    line.AddValue("speedMin", "The lowest speed, in m/s", field.speedMin);
    line.AddValue("speedMax", "The highest speed, in m/s", field.speedMax);
    line.AddValue("period", "The mean time between requests of a node, in seconds", field.period);
    line.AddValue("seconds", "For how long requests are sent", field.seconds);
    line.AddValue("grace", "For how long replies may still arrive, in seconds", field.grace);
    line.AddValue("hello", "Whether AODV says hello", field.hello);
    line.AddValue("arp", "Whether hardware addresses have to be asked for", field.arp);
    line.AddValue("radio", "Count frames on the air as well", field.radio);
    line.AddValue("seed", "The run", seed);
    line.Parse(argc, argv);

    RngSeedManager::SetRun(seed);
    field.Build();
    Simulator::Stop(Seconds(field.seconds + field.grace));
    Simulator::Run();
    field.Report();
    Simulator::Destroy();
}
