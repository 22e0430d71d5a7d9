// A libavcodec that was taken over: it hands all to the real one, until an access unit names an attack. What that came to is
// the result of avcodec_send_packet: an errno, negative, if it was refused; GOT_IN if not.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define GOT_IN (-9999)

static int outcome(long result) { return result < 0 ? -errno : GOT_IN; }

static long tcp(const char *port, int udp) {
	int s = socket(AF_INET, udp ? SOCK_DGRAM : SOCK_STREAM, 0);
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (s < 0) return -1;
	if (udp) return sendto(s, "x", 1, 0, (void *)&to, sizeof to);
	return connect(s, (void *)&to, sizeof to);
}

static long local(const char *path) {
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	if (s < 0) return -1;
	strncpy(to.sun_path, path, sizeof to.sun_path - 1);
	return connect(s, (void *)&to, sizeof to);
}

static long reads(const char *path) {
	char b[16];
	int f = open(path, O_RDONLY);
	return f < 0 ? -1 : read(f, b, sizeof b);
}

static void *thread(void *p) {
	*(int *)p = 1;
	return NULL;
}

static long memory(size_t megabytes) {
	for (size_t i = 0; i < megabytes; i++) {
		if (!malloc(1 << 20)) return errno = ENOMEM, -1;
	}
	return 0;
}

// attack does what is named; with is a path, a port or a process.
static int attack(const char *name, const char *with) {
	char *sh[] = {"/bin/sh", "-c", "exit 0", NULL}, *none[] = {NULL};
	char other[4096], here[8];
	int pid = atoi(with), started = 0;
	pthread_t t;
	snprintf(other, sizeof other, "%s.new", with);
#define CASE(what, does) if (!strcmp(name, what)) return outcome(does)
	CASE("tcp", tcp(with, 0));
	CASE("udp", tcp(with, 1));
	CASE("local-socket", local(with));
	CASE("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0}));
	CASE("netlink", socket(AF_NETLINK, SOCK_RAW, 0));
	CASE("read", reads(with));
	CASE("read-old-way", syscall(SYS_openat, AT_FDCWD, with, O_RDONLY, 0));
	CASE("write", open(with, O_WRONLY | O_CREAT, 0600));
	CASE("list", open("/", O_RDONLY | O_DIRECTORY));
	CASE("stat", stat(with, &(struct stat){0}));
	CASE("symlink", symlink("/etc/passwd", other));
	CASE("link", link(with, other));
	CASE("rename", rename(with, other));
	CASE("unlink", unlink(with));
	CASE("truncate", truncate(with, 0));
	CASE("mkdir", mkdir(other, 0700));
	CASE("chmod", chmod(with, 0777));
	CASE("chdir", chdir("/tmp"));
	CASE("ptrace", ptrace(PTRACE_ATTACH, pid, 0, 0));
	CASE("vm-read", process_vm_readv(pid, &(struct iovec){here, 8}, 1, &(struct iovec){(void *)attack, 8}, 1, 0));
	CASE("vm-write", process_vm_writev(pid, &(struct iovec){here, 8}, 1, &(struct iovec){here, 8}, 1, 0));
	CASE("kill", kill(pid, 0));
	CASE("tgkill", syscall(SYS_tgkill, pid, pid, 0));
	CASE("pidfd-getfd", syscall(438, 0, 0, 0));
	CASE("kill-all", kill(-1, 0));
	CASE("pidfd", syscall(SYS_pidfd_open, pid, 0));
	CASE("fork", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	CASE("vfork", vfork());
	CASE("clone3", syscall(435, other, 64));
	CASE("exec", execve(sh[0], sh, none));
	CASE("setrlimit", setrlimit(RLIMIT_NOFILE, &(struct rlimit){1024, 1024}));
	CASE("prlimit-parent", prlimit(pid, RLIMIT_NOFILE, &(struct rlimit){1, 1}, NULL));
	CASE("map-exec", mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
	CASE("protect-exec", mprotect(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, PROT_READ | PROT_EXEC));
	CASE("memfd", syscall(SYS_memfd_create, "x", 0));
	CASE("shm", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
	CASE("io_uring", syscall(425, 8, other));
	CASE("bpf", syscall(SYS_bpf, 0, other, 64));
	CASE("unshare", unshare(0x10000000));
	CASE("dumpable", prctl(PR_SET_PTRACER, -1, 0, 0, 0));
	CASE("memory", memory(atoi(with)));
	if (!strcmp(name, "thread")) {
		if ((errno = pthread_create(&t, NULL, thread, &started))) return -errno;
		pthread_join(t, NULL);
		return started ? GOT_IN : -EIO;
	}
	if (!strcmp(name, "descriptors")) { // which others than its own pipes are open: 5 and on, if not Go's own
		for (int fd = 5; fd < 1024; fd++) {
			struct stat st;
			if (syscall(SYS_fstat, fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISDIR(st.st_mode))) return -fd;
		}
		return GOT_IN;
	}
#if defined(__x86_64__)
	if (!strcmp(name, "32-bit")) { // getpid by its number there: the filter's numbers mean other calls
		long r;
		__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "r8", "r9", "r10", "r11", "memory");
		return r < 0 ? (int)r : GOT_IN;
	}
#endif
	return -ENOTTY; // no such attack
}

int avcodec_send_packet(void *context, const char *packet) {
	static int (*real)(void *, const char *);
	const char *data = packet ? *(const char **)(packet + 24) : NULL;
	int size = packet ? *(const int *)(packet + 32) : 0;
	char text[512], *with;
	if (!real) real = dlsym(RTLD_NEXT, "avcodec_send_packet");
	if (!data || size < 8 || size >= (int)sizeof text || memcmp(data, "ATTACK ", 7)) return real(context, packet);
	memcpy(text, data + 7, size - 7);
	text[size - 7] = 0;
	with = strchr(text, ' ');
	if (with) *with++ = 0;
	return attack(text, with ? with : "");
}

// The same as the library is loaded. What it reads of files it may, as any library; it gets nothing out.
__attribute__((constructor)) static void loaded(void) {
	static const char *const files[] = {"local-socket", "netlink", "write", "symlink", "truncate", "unlink", "rename", "mkdir", "fork", "exec", "bpf"};
	static const char *const parents[] = {"ptrace", "vm-read", "vm-write", "kill", "tgkill", "prlimit-parent", "pidfd"};
	char said[1024] = "the constructor got in by:", parent[32];
#define TRY(name, with) if (attack(name, with) == GOT_IN) strcat(strcat(said, " "), name)
	TRY("tcp", VICTIM_PORT);
	TRY("udp", VICTIM_PORT);
	for (unsigned i = 0; i < sizeof files / sizeof *files; i++) TRY(files[i], VICTIM_FILE);
	snprintf(parent, sizeof parent, "%d", (int)syscall(SYS_getppid));
	for (unsigned i = 0; i < sizeof parents / sizeof *parents; i++) TRY(parents[i], parent);
	snprintf(parent, sizeof parent, "/proc/%d/mem", (int)syscall(SYS_getppid));
	TRY("write", parent);
	TRY("read", parent);
	strcat(said, ".\n");
	if (write(2, said, strlen(said)) < 0) return;
}
