//go:build amd64 || arm64

#include "loop.h"

#include <errno.h>
#include <string.h>

// Of AVCodecContext and AVFrame: see package avcodec.
enum { CONTEXT_OPAQUE = 48, FRAME_WIDTH = 104, FRAME_HEIGHT = 108 };

static int32_t field(const void *frame, int at) {
	int32_t v;
	memcpy(&v, (const uint8_t *)frame + at, sizeof v);
	return v;
}

// get_buffer has libavcodec allocate a picture, unless the stream's pictures would take too much then. The same in Go:
// package avcodec.
static int get_buffer(void *context, void *frame, int flags) {
	struct stream *s;
	memcpy(&s, (uint8_t *)context + CONTEXT_OPAQUE, sizeof s);
	struct budget *b = &s->budget;
	const struct budget_functions *call = b->calls;
	if (b->most == 0) {
		return call->get_buffer(context, frame, flags);
	}
	int holds = 0;
	for (int i = 0; i < b->holds; i++) {
		if (call->references(b->held[i].buffer) > 1) {
			b->held[holds++] = b->held[i];
			continue;
		}
		b->bytes -= b->held[i].bytes;
		call->unref(&b->held[i].buffer);
	}
	b->holds = holds;
	int64_t width = field(frame, FRAME_WIDTH), height = field(frame, FRAME_HEIGHT);
	int64_t bytes = width * height / 8 * b->eighths;
	if (holds == MAX_HELD || b->bytes + bytes > b->most) {
		b->denied = holds + 1, b->denied_width = (int32_t)width, b->denied_height = (int32_t)height;
		return -ENOMEM;
	}
	int code = call->get_buffer(context, frame, flags);
	if (code < 0) {
		return code;
	}
	void *buffer = call->plane_buffer(frame, 0);
	buffer = buffer == NULL ? NULL : call->ref(buffer);
	if (buffer == NULL) {
		return -ENOMEM;
	}
	b->held[b->holds++] = (struct held){buffer, bytes};
	b->bytes += bytes;
	return code;
}

uintptr_t budget_function(void) { return (uintptr_t)get_buffer; }
