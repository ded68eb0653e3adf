// Package address is the address plan of a cluster. Services and pods have the same subnets as in
// kind. Nodes and csisim's machine share another subnet; kind's nodes are in docker's.
package address

import "net/netip"

// The subnets.
var (
	Services = netip.MustParsePrefix("10.96.0.0/16")
	Pods     = netip.MustParsePrefix("10.244.0.0/16")
	Nodes    = netip.MustParsePrefix("10.245.0.0/16")
)

// The addresses that are the same in every cluster.
var (
	// API is the cluster address of the API server.
	API = netip.MustParseAddr("10.96.0.1")
	// DNS is the cluster address of the name server.
	DNS = netip.MustParseAddr("10.96.0.10")
	// FirstService is the first address for a service.
	FirstService = netip.MustParseAddr("10.96.0.11")
	// Host is the machine on which csisim runs. A connection to this address reaches that machine's
	// loopback.
	Host = netip.MustParseAddr("10.245.0.1")
	// FirstNode is the address of the first node. The addresses of the other nodes follow it.
	FirstNode = netip.MustParseAddr("10.245.0.2")
)

// Domain is the suffix of the names of services and pods.
const Domain = "cluster.local"

// MostNodes bounds the nodes that have a subnet for their pods.
const MostNodes = 256

// PodsOf returns the addresses of the pods of the node with this index, from 0 and below MostNodes.
func PodsOf(node int) netip.Prefix {
	of := Pods.Addr().As4()
	of[2] = byte(node)
	return netip.PrefixFrom(netip.AddrFrom4(of), 24)
}
