package main

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
)

// direct are the addresses at which the service may ask bridges that have no tunnel: those within
// ranges that the operator has named, and none without. Whoever has a bridge's token names the
// address, so without that rule the service would ask whatever it can reach, its own machine
// included.
type direct []netip.Prefix

// never are where no bridge can be, whatever the operator says, above all where clouds hand out
// their machines' secrets: unspecified, link-local, multicast, and IPv6 addresses that lead to an
// IPv4 address which is not looked at.
var never = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("224.0.0.0/4"),
	netip.MustParsePrefix("240.0.0.0/4"),
	// metadata, of several clouds
	netip.MustParsePrefix("100.100.100.200/32"), netip.MustParsePrefix("192.0.0.192/32"),
	netip.MustParsePrefix("168.63.129.16/32"),
	// the same
	netip.MustParsePrefix("fd00:ec2::254/128"), netip.MustParsePrefix("fd20:ce::254/128"),
	netip.MustParsePrefix("fd00:42::42/128"),
	netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("ff00::/8"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), // NAT64
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"), // 6to4, Teredo
}

// compatible is the old form of IPv4 in IPv6. The loopback address lies in it.
var compatible = netip.MustParsePrefix("::/96")

// allows is nil if the service may ask a bridge at an IP address.
func (d direct) allows(ip netip.Addr) error {
	ip = ip.Unmap().WithZone("")
	within := func(p netip.Prefix) bool { return p.Contains(ip) }
	switch {
	case slices.ContainsFunc(never, within), compatible.Contains(ip) && ip != netip.IPv6Loopback():
		return fmt.Errorf("%s cannot be a bridge", ip)
	case !slices.ContainsFunc(d, within):
		return fmt.Errorf("%s lies in no range of --direct", ip)
	}
	return nil
}

// control is asked for every connection, with the name resolved.
func (d direct) control(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return d.allows(ap.Addr())
}

// unasked says why the service will not ask a bridge at the address that it registers, "" if it
// will or there is none. Where a name leads to is found out when it is asked.
func (d direct) unasked(address string) string {
	if address == "" {
		return ""
	}
	if len(d) == 0 {
		return "this service asks bridges through their tunnels only; its operator can allow addresses with vmscloud " +
			"run --direct RANGE"
	}
	u, err := url.Parse(address)
	if err != nil {
		return "it is not an address"
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return "" // a name
	}
	if err := d.allows(ip); err != nil {
		return err.Error() + "; its operator can allow others with vmscloud run --direct RANGE, but never " +
			"link-local, translated or metadata addresses"
	}
	return ""
}
