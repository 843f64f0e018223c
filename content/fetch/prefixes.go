package fetch

import "net/netip"

func list(prefixes ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(prefixes))
	for i, p := range prefixes {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

// unicast6 is all of IPv6 that is given out for the public network.
var unicast6 = netip.MustParsePrefix("2000::/3")

// special4 is what is not public in IPv4: the IANA registry of special-purpose
// addresses, and multicast.
var special4 = list(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private use
	"100.64.0.0/10",   // shared address space
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link local
	"172.16.0.0/12",   // private use
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.31.196.0/24", // AS112
	"192.52.193.0/24", // automatic multicast tunnels
	"192.88.99.0/24",  // 6to4 relays
	"192.168.0.0/16",  // private use
	"192.175.48.0/24", // AS112
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, and broadcast
)

// special6 is what is not public of unicast6, by the IANA registry.
var special6 = list(
	"2001::/23",         // protocol assignments: Teredo, ORCHID and others
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4, which embeds IPv4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
)

// private is what AllowPrivate allows.
var private = list(
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
	"100.64.0.0/10",
	"127.0.0.0/8", "::1/128",
	"fc00::/7",
)

// services are where clouds serve their own machines, mostly with credentials.
// No registry lists them; some look public, some private.
var services = list(
	"100.100.100.200/32",     // Alibaba: metadata
	"161.26.0.0/16",          // IBM: infrastructure services
	"166.8.0.0/14",           // IBM: service endpoints
	"168.63.129.16/32",       // Azure: wire server
	"fd00:42::42/128",        // Scaleway: metadata
	"fd00:c1::a9fe:a9fe/128", // Oracle: metadata
	"fd00:ec2::/32",          // Amazon: metadata, names, time
	"fd20:ce::254/128",       // Google: metadata
)

// specialNames are domains that have no public hosts: special use (RFC 6761 and
// its registry), private use, and those kept from the root because networks use
// them by themselves.
var specialNames = [...]string{
	"alt", "arpa", "example", "invalid", "local", "localhost", "onion", "test",
	"consul", "corp", "home", "internal", "intranet", "lan", "localdomain", "mail", "private",
}

// serviceNames are those of services, where they are not refused as special.
var serviceNames = [...]string{
	"instance-data", "instance-data.ec2.internal", "metadata", "metadata.azure.internal", "metadata.goog",
	"metadata.google.internal", "metadata.packet.net", "metadata.platformequinix.com", "metadata.tencentyun.com",
}
