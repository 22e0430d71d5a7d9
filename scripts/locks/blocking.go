package locks

import (
	"go/types"
	"regexp"
	"strings"
)

// blocking are the functions outside the module that wait for a device, a network, another process
// or a goroutine. The names are those of types.Func.FullName.
var blocking = regexp.MustCompile(`^(` + strings.Join([]string{
	`os\.(Chmod|Chtimes|Create|CreateTemp|Link|Lstat|Mkdir|MkdirAll|MkdirTemp|Open|OpenFile|ReadDir|ReadFile|Readlink|Remove|RemoveAll|Rename|Stat|Symlink|Truncate|WriteFile)`,
	`\(\*os\.File\)\.(Chmod|Close|Read|ReadAt|ReadDir|ReadFrom|Stat|Sync|Truncate|Write|WriteAt|WriteString)`,
	`\(\*os\.Process\)\.Wait`,
	`\(\*os/exec\.Cmd\)\.(CombinedOutput|Output|Run|Start|Wait)`,
	`(syscall|golang\.org/x/sys/unix)\.(Fallocate|Fdatasync|Flock|Fstat|Fsync|Mount|Open|Poll|Pread|Pwrite|Read|Stat|Statfs|Unmount|Write)`,
	`\(\*go\.etcd\.io/bbolt\.DB\)\.(Batch|Begin|Close|Sync|Update|View)`,
	`\(\*go\.etcd\.io/bbolt\.Tx\)\.(Commit|Copy|CopyFile|WriteTo)`,
	`go\.etcd\.io/bbolt\.Open`,
	`net\.(Dial|DialTimeout|Listen|ListenPacket|Lookup\w+)`,
	`\(\*net\.(Dialer|Resolver|ListenConfig)\)\.\w+`,
	`\(net\.(Conn|Listener|PacketConn)\)\.(Accept|Close|Read|ReadFrom|Write|WriteTo)`,
	`\(\*net\.\w+Conn\)\.(Close|Read\w*|Write\w*)`,
	`\(\*crypto/tls\.Conn\)\.(Close|Handshake\w*|Read|Write)`,
	`\(\*?net/http\.(Client|Transport|Server|RoundTripper)\)\.\w+`,
	`\(net/http\.(ResponseWriter|Flusher)\)\.(Write|Flush)`,
	`net/http\.(Get|Head|Post|PostForm|ListenAndServe\w*|Serve\w*)`,
	`\(io\.(Closer|Reader|ReaderAt|ReaderFrom|Seeker|Writer|WriterAt|WriterTo|StringWriter)\)\.\w+`,
	`io\.(Copy|CopyN|CopyBuffer|ReadAll|ReadFull|WriteString)`,
	`\(\*bufio\.(Reader|Writer|Scanner)\)\.(Flush|Peek|Read\w*|Scan|Write\w*)`,
	`\(\*sync\.WaitGroup\)\.Wait`,
	`\(\*golang\.org/x/sync/errgroup\.Group\)\.Wait`,
	`time\.Sleep`,
}, `|`) + `)$`)

// harmless are methods of interfaces that cannot wait, and functions of ours that are values and
// cannot either.
var harmless = regexp.MustCompile(
	`^(\(error\)\.Error|\(context\.Context\)\.\w+|\(hash\.Hash\w*\)\.\w+|\(fmt\.Stringer\)\.String|\(reflect\.Type\)\.\w+|\(sort\.Interface\)\.\w+)$`)

// clocks are the names under which a function that tells the time is kept: it waits for nobody.
var clocks = regexp.MustCompile(`^(now|Now|clock|uptime|rand|random|jitter)$`)

// isFunc tells whether a value of a type can be called.
func isFunc(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Signature)
	return ok
}
