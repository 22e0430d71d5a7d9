package discover

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// Options of Search. The zero value searches on all interfaces for four seconds.
type Options struct {
	// Wait is how long answers are awaited; 0 means 4 s. Cameras wait up to half a second before
	// they answer, and some miss the first question, so it is asked three times.
	Wait time.Duration
	// Interfaces limits the search to interfaces of these names; nil means all that are up and can
	// multicast, and an empty list none: then only Targets are asked.
	Interfaces []string
	// Targets are asked beside the multicast groups, each by itself: cameras in networks that
	// multicast does not reach.
	Targets []netip.AddrPort
}

// port and groups are WS-Discovery's own.
const port = 3702

var (
	group4 = netip.AddrPortFrom(netip.MustParseAddr("239.255.255.250"), port)
	group6 = netip.AddrPortFrom(netip.MustParseAddr("ff02::c"), port)
)

const (
	defaultWait = 4 * time.Second
	asked       = 3 // times that the question is sent
	maxDatagram = 64 << 10
	maxDevices  = 1024 // a hostile network cannot fill the memory
)

// Search asks who is there and returns the cameras that answered, ordered by address. It blocks for
// Options.Wait, or until ctx is done. Interfaces that cannot be used are left out; if none can and
// there are no Targets, that is an error.
func Search(ctx context.Context, o Options) ([]Device, error) {
	if o.Wait == 0 {
		o.Wait = defaultWait
	}
	sockets, err := open(o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Wait)
	defer cancel()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		found = map[string]*Device{}
	)
	for _, s := range sockets {
		context.AfterFunc(ctx, func() { _ = s.conn.Close() }) // ends the listening
		wg.Go(func() { s.ask(ctx, o.Wait) })
		wg.Go(func() {
			s.listen(func(d Device) {
				mu.Lock()
				defer mu.Unlock()
				if known := found[d.key()]; known != nil {
					known.merge(d)
				} else if len(found) < maxDevices {
					found[d.key()] = &d
				}
			})
		})
	}
	wg.Wait()
	list := make([]Device, 0, len(found))
	for _, d := range found {
		list = append(list, *d)
	}
	slices.SortFunc(list, func(a, b Device) int { return a.Host.Compare(b.Host) })
	return list, nil
}

// socket asks on one interface.
type socket struct {
	conn *net.UDPConn
	to   []netip.AddrPort
}

// open makes a socket for each usable address family of each interface, and one for the targets.
func open(o Options) ([]socket, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list network interfaces: %w", err)
	}
	for _, name := range o.Interfaces {
		if !slices.ContainsFunc(all, func(i net.Interface) bool { return i.Name == name }) {
			return nil, fmt.Errorf("search on interface %q: this machine has none of that name", name)
		}
	}
	var sockets []socket
	for _, i := range all {
		chosen := slices.Contains(o.Interfaces, i.Name)
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagMulticast == 0 || (o.Interfaces != nil && !chosen) {
			continue
		}
		if c, err := net.ListenUDP("udp4", nil); err == nil {
			p := ipv4.NewPacketConn(c)
			if p.SetMulticastInterface(&i) == nil && p.SetMulticastTTL(1) == nil {
				sockets = append(sockets, socket{c, []netip.AddrPort{group4}})
			} else {
				_ = c.Close()
			}
		}
		if c, err := net.ListenUDP("udp6", nil); err == nil {
			if ipv6.NewPacketConn(c).SetMulticastInterface(&i) == nil {
				sockets = append(sockets,
					socket{c, []netip.AddrPort{netip.AddrPortFrom(group6.Addr().WithZone(i.Name), port)}})
			} else {
				_ = c.Close()
			}
		}
	}
	if len(o.Targets) > 0 {
		c, err := net.ListenUDP("udp", nil)
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		sockets = append(sockets, socket{c, o.Targets})
	}
	if len(sockets) == 0 {
		return nil,
			errors.New("search: no network interface is up that can multicast; name the cameras' addresses instead")
	}
	return sockets, nil
}

// ask sends the question, some times over, for WS-Discovery runs on datagrams. Half of them name
// the type that ONVIF cameras have, half name none, because some cameras answer only one of the
// two.
func (s socket) ask(ctx context.Context, wait time.Duration) {
	for range asked {
		for _, to := range s.to {
			for _, types := range []string{"dn:NetworkVideoTransmitter", ""} {
				_, _ = s.conn.WriteToUDPAddrPort(probe(newUUID(), types), to) // what cannot be reached does not answer
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait / 8):
		}
	}
}

// listen passes on what answers until the socket is closed.
func (s socket) listen(take func(Device)) {
	buffer := make([]byte, maxDatagram)
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // such as an ICMP answer to one of the targets
		}
		for _, d := range parseMatches(buffer[:n], from.Addr().Unmap()) {
			take(d)
		}
	}
}

// newUUID is a random one (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
