package codec

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"vmsbridge/agent/codec/confine"
)

// The memory that a stream's pictures may take: a quarter of the machine's, within these bounds.
// The lower one has room for what cameras send in 1080p, the upper one for 12 megapixels in H.265
// (some 300 MB).
const (
	leastPictureBytes = 128 << 20
	mostPictureBytes  = 512 << 20
)

func pictureBytes(machine uint64) int64 {
	return int64(min(max(machine/4, leastPictureBytes), mostPictureBytes))
}

// machineMemory is the machine's, or what the container it stands for may have.
func machineMemory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	total := uint64(info.Totalram) * uint64(info.Unit)
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if most, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
			total = min(total, most)
		}
	}
	return total
}

// processBytes is what a decoder process may take beside pictures: Go's heap, in which JPEGs are
// decoded, access units and replies, the stacks of threads.
const processBytes = 384 << 20

// moreMemory is how much a process may map beyond what it has when its libraries are loaded:
// streams that ask for less than they take find their end there. Hardly ever do several cameras of
// a process have the largest pictures at once.
func (p *Pool) moreMemory() uint64 {
	return processBytes + uint64(p.pictureBytes)*uint64(max(2, cmp.Or(p.options.PerProcess, manyPerProcess)/2))
}

// memoryClosed is the part of the confinement that is this process's own.
const memoryClosed = "the bridge's own memory closed to its user's other processes"

// closeMemory is done before the first decoder process starts: none may find anything of this one
// but the pipes.
func (p *Pool) closeMemory() error { return closeMemory() }

var closeMemory = sync.OnceValue(func() error {
	confine.CloseOnExec()
	return confine.CloseMemory()
})

// sharedBytes is the memory that a process shares for pictures: of MaxTogether, with room to spare.
const sharedBytes = 256 << 10

// shareMemory makes memory for replies, and a file by which a process gets it. The process cannot
// make it smaller, which would end whoever reads it.
func shareMemory() (*os.File, []byte, error) {
	fd, err := unix.MemfdCreate("vmsbridge-pictures", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil, fmt.Errorf("share memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "vmsbridge-pictures")
	if err = unix.Ftruncate(fd, sharedBytes); err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	var shared []byte
	if err == nil {
		shared, err = unix.Mmap(fd, 0, sharedBytes, unix.PROT_READ, unix.MAP_SHARED)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, fmt.Errorf("share memory: %w", err)
	}
	return f, shared, nil
}

func unshare(shared []byte) error {
	if shared == nil {
		return nil
	}
	return unix.Munmap(shared)
}
