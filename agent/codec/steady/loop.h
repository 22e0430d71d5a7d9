// The loop of package steady: see steady.go. The structures are laid out as those of the same names there.
#include <stddef.h>
#include <stdint.h>

enum { KEPT = 4, SPARES = 2, MAX_SET = 512, MAX_STREAMS = 256, MAX_FRAMES = 32, MAX_UNITS = 4096, MAX_HELD = 64, MAX_BODY = 1 << 20 };

struct picture {
	void *frame;
	int64_t pts;
	int32_t full, unused;
};

struct budget_functions {
	int (*get_buffer)(void *context, void *frame, int flags);
	void *(*plane_buffer)(const void *frame, int plane);
	void *(*ref)(const void *buffer);
	void (*unref)(void **buffer);
	int (*references)(const void *buffer);
};

struct held {
	void *buffer;
	int64_t bytes;
};

struct budget {
	const struct budget_functions *calls;
	int64_t most, bytes;
	int32_t eighths, holds, denied, denied_width, denied_height, unused;
	struct held held[MAX_HELD];
};

struct stream {
	void *context, *packet, *spare[SPARES];
	struct picture last[KEPT];
	int32_t spares, next, codec, ready, width, height, format, full, luma_width, luma_height, set_bytes, planes;
	uint8_t set[MAX_SET];
	struct budget budget;
};

struct functions {
	int (*new_packet)(void *packet, int size);
	void (*unref_packet)(void *packet);
	int (*send_packet)(void *context, const void *packet);
	int (*receive_frame)(void *context, void *frame);
	void *(*alloc_frame)(void);
	void (*unref_frame)(void *frame);
	void (*free_frame)(void **frame);
	uintptr_t frame_pts;
};

struct loop {
	struct functions call;
	int in, out;
	int look, looked; // stop before each access unit; it was looked at
	int count;
	uint32_t numbers[MAX_STREAMS];
	struct stream *streams[MAX_STREAMS];
	// What was read from in and is not served yet: buffer[begin:end].
	uint8_t *buffer;
	size_t begin, end;
	// The replies that are not written yet are reply[0:reply_bytes].
	uint8_t *reply;
	size_t reply_bytes, reply_room;
	// Pictures that both sides see are shared[0:shared_next], of those that were asked for together.
	uint8_t *shared;
	size_t shared_bytes, shared_next;
	// For Go, after FINISH, LOOK and BROKEN.
	uint32_t number;
	int sent, received, frames, error;
	int64_t luma_from; // of the unit that was fed last: frames before have none
	uint64_t served; // access units whose reply was written here
	uint64_t stills; // those made here
	void *frame[MAX_FRAMES];
	const uint8_t *unit;
	size_t unit_bytes;
};

enum { LEAVE, FINISH, LOOK, BROKEN };
enum {
	offsetof_set = offsetof(struct stream, set),
	offsetof_held = offsetof(struct budget, held),
};

struct loop *loop_new(int in, int out, struct functions f);
void loop_free(struct loop *l);
int loop_next(struct loop *l);
int loop_add(struct loop *l, uint32_t number, struct stream *s);
void loop_remove(struct loop *l, uint32_t number);
size_t loop_take(struct loop *l, void *to, size_t most);
// What AVCodecContext's get_buffer2 is to be, with the stream as its opaque.
uintptr_t budget_function(void);
// The average of boxes, as package planar defines it; full 0 expands the range. 0: not done.
int loop_reduce(uint8_t *to, int w, int h, const uint8_t *from, int stride, int width, int height, int full);
// A JPEG of a picture in three planes, 4:2:0, the caller's to free. NULL: not done.
uint8_t *loop_still(size_t *bytes, const uint8_t *const plane[3], const int stride[3], int width, int height, int full,
                    int quality);
// Limited range in full range, of luma or chroma.
void loop_expand(uint8_t *p, size_t n, int chroma);
