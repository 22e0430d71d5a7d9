//go:build amd64 || arm64

#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The frames of the pipe: agent/codec/worker/format.md.
enum {
	HEADER = 12, DECODE = 3, STILL = 4, DECODE_MORE = 8, OK = 64, PICTURES = 65, PLACED = 69, PICTURE = 24, TIME = 8,
	TIMES = 2 * TIME, PLACE = 8, STILL_BODY = TIME + 5,
};

// The head of AVFrame and the fields of AVPacket: see package avcodec.
enum {
	FRAME_DATA = 0, FRAME_LINESIZE = 64, FRAME_WIDTH = 104, FRAME_HEIGHT = 108, FRAME_FORMAT = 116,
	PACKET_PTS = 8, PACKET_DATA = 24,
};

enum { AGAIN = -11 };

// Replies wait for the next one as long as they have no more bytes: a pipe takes that, and one more.
enum { MAX_REPLIES = 128 << 10 };

// A larger JPEG is for Go, which knows what a reply may have.
enum { MAX_JPEG = 16 << 20 };

static uint32_t get32(const void *p) {
	uint32_t v;
	memcpy(&v, p, sizeof v); // little endian, as all machines here are
	return v;
}

static int32_t field(const void *frame, int at) { return (int32_t)get32((const uint8_t *)frame + at); }

static int64_t get64(const void *p) {
	int64_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static uint8_t *put32(uint8_t *p, uint32_t v) {
	memcpy(p, &v, sizeof v);
	return p + sizeof v;
}

struct loop *loop_new(int in, int out, struct functions f) {
	struct loop *l = calloc(1, sizeof *l);
	if (l == NULL) {
		return NULL;
	}
	l->in = in, l->out = out, l->call = f;
	l->buffer = malloc(HEADER + MAX_BODY);
	if (l->buffer == NULL) {
		free(l);
		return NULL;
	}
	return l;
}

void loop_free(struct loop *l) {
	free(l->buffer);
	free(l->reply);
	free(l);
}

int loop_add(struct loop *l, uint32_t number, struct stream *s) {
	if (l->count == MAX_STREAMS) {
		return 0;
	}
	l->numbers[l->count] = number;
	l->streams[l->count++] = s;
	return 1;
}

void loop_remove(struct loop *l, uint32_t number) {
	for (int i = 0; i < l->count; i++) {
		if (l->numbers[i] == number) {
			l->count--;
			l->numbers[i] = l->numbers[l->count];
			l->streams[i] = l->streams[l->count];
			return;
		}
	}
}

static struct stream *find(const struct loop *l, uint32_t number) {
	for (int i = 0; i < l->count; i++) {
		if (l->numbers[i] == number) {
			return l->streams[i];
		}
	}
	return NULL;
}

// loop_take gives Go what was read and not served.
size_t loop_take(struct loop *l, void *to, size_t most) {
	size_t n = l->end - l->begin;
	n = n < most ? n : most;
	memcpy(to, l->buffer + l->begin, n);
	l->begin += n;
	return n;
}

// fill reads until so many bytes are there; 0: the pipe has ended or fails, as Go will find too.
static int fill(struct loop *l, size_t want) {
	if (l->begin == l->end) {
		l->begin = l->end = 0;
	}
	while (l->end - l->begin < want) {
		if (l->begin > 0 && l->begin + want > HEADER + MAX_BODY) {
			memmove(l->buffer, l->buffer + l->begin, l->end - l->begin);
			l->end -= l->begin;
			l->begin = 0;
		}
		ssize_t n = read(l->in, l->buffer + l->end, HEADER + MAX_BODY - l->end);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return 0;
		}
		l->end += (size_t)n;
	}
	return 1;
}

// start finds the next start code, 00 00 01, in p[0:n]; n if there is none.
static size_t start(const uint8_t *p, size_t n) {
	for (size_t at = 2; at < n; at++) {
		const uint8_t *one = memchr(p + at, 1, n - at);
		if (one == NULL) {
			return n;
		}
		at = (size_t)(one - p);
		if (one[-1] == 0 && one[-2] == 0) {
			return at - 2;
		}
	}
	return n;
}

// known reports whether an access unit has only parameter sets that Go has looked at, and no more
// units than are fed.
static int known(const struct stream *s, const uint8_t *p, size_t n) {
	size_t at = start(p, n);
	for (int units = 1; at < n; units++) {
		if (units > MAX_UNITS) {
			return 0;
		}
		at += 3;
		size_t next = at + start(p + at, n - at);
		if (next == at) {
			continue; // an empty unit
		}
		int is_set = s->codec == 1 ? (p[at] & 0x1f) == 7 : (p[at] >> 1 & 0x3f) == 33;
		if (is_set && (next - at != (size_t)s->set_bytes || memcmp(p + at, s->set, next - at) != 0)) {
			return 0;
		}
		at = next;
	}
	return 1;
}

// expected reports whether a frame is as the ones before.
static int expected(const struct stream *s, const void *frame) {
	const uint8_t *data;
	memcpy(&data, (const uint8_t *)frame + FRAME_DATA, sizeof data);
	return data != NULL && field(frame, FRAME_WIDTH) == s->width && field(frame, FRAME_HEIGHT) == s->height &&
	       field(frame, FRAME_FORMAT) == s->format && field(frame, FRAME_LINESIZE) >= s->width;
}

// say writes the replies.
static int say(struct loop *l) {
	const uint8_t *p = l->reply;
	for (size_t n = l->reply_bytes; n > 0;) {
		ssize_t wrote = write(l->out, p, n);
		if (wrote < 0 && errno == EINTR) {
			continue;
		}
		if (wrote <= 0) {
			l->error = wrote < 0 ? errno : EIO;
			return 0;
		}
		p += wrote;
		n -= (size_t)wrote;
	}
	l->reply_bytes = 0;
	if (l->reply_room > MAX_BODY) {
		free(l->reply);
		l->reply = NULL, l->reply_room = 0;
	}
	return 1;
}

// waits reports whether the whole next request is here.
static int waits(const struct loop *l) {
	size_t n = l->end - l->begin;
	return n >= HEADER && n - HEADER >= get32(l->buffer + l->begin);
}

// said writes the replies, unless more come at once: who asks for several is woken once.
static int said(struct loop *l) {
	return (waits(l) && l->reply_bytes <= MAX_REPLIES) || say(l);
}

// spare keeps a frame for the next picture, so that none is allocated while a stream goes on.
static void spare(const struct loop *l, struct stream *s, void *frame) {
	if (s->spares == SPARES) {
		l->call.free_frame(&frame);
		return;
	}
	l->call.unref_frame(frame);
	s->spare[s->spares++] = frame;
}

// feed has an access unit decoded. Its frames are in l->frame then, the caller's to free.
static void feed(struct loop *l, struct stream *s, const uint8_t *unit, size_t n, int64_t pts) {
	l->frames = 0, l->sent = l->received = l->call.new_packet(s->packet, (int)n);
	if (l->sent < 0) {
		l->received = AGAIN;
		return;
	}
	uint8_t *data;
	memcpy(&data, (uint8_t *)s->packet + PACKET_DATA, sizeof data);
	memcpy(data, unit, n);
	memcpy((uint8_t *)s->packet + PACKET_PTS, &pts, sizeof pts);
	struct picture *oldest = &s->last[s->next];
	if (oldest->frame != NULL) { // its memory may be the next picture's
		spare(l, s, oldest->frame);
		oldest->frame = NULL;
	}
	l->sent = l->call.send_packet(s->context, s->packet);
	l->call.unref_packet(s->packet);
	l->received = AGAIN;
	while (l->frames < MAX_FRAMES) {
		void *frame = NULL;
		if (s->spares > 0) {
			frame = s->spare[--s->spares];
			s->spare[s->spares] = NULL; // whoever frees the stream frees what is in there
		} else if ((frame = l->call.alloc_frame()) == NULL) {
			l->received = -ENOMEM;
			return;
		}
		l->received = l->call.receive_frame(s->context, frame);
		if (l->received < 0) {
			spare(l, s, frame);
			return;
		}
		l->frame[l->frames++] = frame;
	}
	l->received = AGAIN; // the others come with the next unit
}

// wanted reports whether a frame's luma is.
static int wanted(const struct loop *l, const void *frame) {
	return get64((const uint8_t *)frame + l->call.frame_pts) >= l->luma_from;
}

// space has room for so many bytes more behind the replies.
static uint8_t *space(struct loop *l, size_t more) {
	size_t bytes = l->reply_bytes + more;
	if (bytes > l->reply_room) {
		uint8_t *room = realloc(l->reply, bytes);
		if (room == NULL) {
			return NULL;
		}
		l->reply = room, l->reply_room = bytes;
	}
	return l->reply + l->reply_bytes;
}

// answer makes the reply with all frames, and keeps them. 0: that is for Go, and nothing was made or kept.
static int answer(struct loop *l, struct stream *s) {
	if (l->sent < 0 || l->received != AGAIN || l->frames == 0) {
		return 0; // nothing: Go looks whether too much waits
	}
	for (int i = 0; i < l->frames; i++) {
		if (!expected(s, l->frame[i])) {
			return 0;
		}
	}
	size_t luma = (size_t)s->luma_width * (size_t)s->luma_height, body = (size_t)l->frames * PICTURE;
	for (int i = 0; i < l->frames; i++) {
		body += wanted(l, l->frame[i]) ? luma : 0;
	}
	int placed = body <= l->shared_bytes - l->shared_next;
	size_t bytes = HEADER + (placed ? PLACE : body);
	uint8_t *p = space(l, bytes);
	if (p == NULL) {
		return 0;
	}
	if (placed) {
		p = put32(put32(put32(p, PLACE), PLACED), l->number);
		put32(put32(p, (uint32_t)l->shared_next), (uint32_t)body);
		p = l->shared + l->shared_next;
	} else {
		p = put32(put32(put32(p, (uint32_t)body), PICTURES), l->number);
	}
	for (int i = 0; i < l->frames; i++) {
		const uint8_t *frame = l->frame[i], *pixels;
		memcpy(p, frame + l->call.frame_pts, TIME);
		p = put32(put32(p + TIME, (uint32_t)s->width), (uint32_t)s->height);
		if (luma == 0 || !wanted(l, frame)) {
			p = put32(put32(p, 0), 0);
			continue;
		}
		p = put32(put32(p, (uint32_t)s->luma_width), (uint32_t)s->luma_height);
		memcpy(&pixels, frame + FRAME_DATA, sizeof pixels);
		if (!loop_reduce(p, s->luma_width, s->luma_height, pixels, field(frame, FRAME_LINESIZE), s->width,
		                             s->height, s->full)) {
			return 0;
		}
		p += luma;
	}
	for (int i = 0; i < l->frames; i++) {
		struct picture *last = &s->last[s->next];
		void *before = last->frame;
		last->frame = l->frame[i];
		memcpy(&last->pts, (uint8_t *)last->frame + l->call.frame_pts, TIME);
		last->full = s->full;
		s->next = (s->next + 1) % KEPT;
		if (before != NULL) {
			spare(l, s, before);
		}
	}
	l->reply_bytes += bytes;
	l->shared_next += placed ? body : 0;
	return 1;
}

// still makes the reply with the JPEG of a kept picture. 0: that is for Go: it is not kept, to be shrunk, or of another
// kind.
static int still(struct loop *l, const struct stream *s, const uint8_t *body) {
	int64_t pts = get64(body);
	uint32_t most = get32(body + TIME);
	int quality = body[TIME + 4];
	const struct picture *kept = NULL;
	for (int i = 1; i <= KEPT && kept == NULL; i++) { // from the newest on
		const struct picture *last = &s->last[(s->next + KEPT - i) % KEPT];
		kept = last->pts == pts && last->frame != NULL ? last : NULL;
	}
	if (kept == NULL || !s->planes || !expected(s, kept->frame) || (most != 0 && most < (uint32_t)s->width)) {
		return 0;
	}
	const uint8_t *plane[3];
	int stride[3];
	memcpy(plane, (const uint8_t *)kept->frame + FRAME_DATA, sizeof plane);
	for (int i = 0; i < 3; i++) {
		stride[i] = field(kept->frame, FRAME_LINESIZE + 4 * i);
		if (plane[i] == NULL || stride[i] < (i == 0 ? s->width : (s->width + 1) / 2)) {
			return 0;
		}
	}
	size_t bytes = 0;
	uint8_t *jpeg = loop_still(&bytes, plane, stride, s->width, s->height, kept->full,
	                           quality < 1 ? 1 : quality > 100 ? 100 : quality);
	uint8_t *p = jpeg == NULL || bytes > MAX_JPEG ? NULL : space(l, HEADER + bytes);
	if (p != NULL) {
		memcpy(put32(put32(put32(p, (uint32_t)bytes), OK), l->number), jpeg, bytes);
		l->reply_bytes += HEADER + bytes;
		l->stills++;
	}
	free(jpeg);
	return p != NULL;
}

// next is loop_next, which writes the replies that are left.
static int next(struct loop *l) {
	for (;;) {
		if (!fill(l, HEADER)) {
			return LEAVE;
		}
		const uint8_t *head = l->buffer + l->begin;
		size_t body = get32(head);
		uint32_t kind = get32(head + 4);
		struct stream *s = find(l, get32(head + 8));
		int known_kind = kind == STILL ? body == STILL_BODY : (kind == DECODE || kind == DECODE_MORE) && body > TIMES;
		if (!known_kind || body > MAX_BODY || s == NULL || !s->ready || !fill(l, HEADER + body)) {
			return LEAVE;
		}
		head = l->buffer + l->begin;
		l->number = get32(head + 8);
		if (kind == STILL) {
			if (!still(l, s, head + HEADER)) {
				return LEAVE;
			}
			l->begin += HEADER + body;
			if (!said(l)) {
				return BROKEN;
			}
			continue;
		}
		const uint8_t *unit = head + HEADER + TIMES;
		size_t n = body - TIMES;
		if (!known(s, unit, n)) {
			return LEAVE;
		}
		if (l->look && !l->looked) {
			l->unit = unit, l->unit_bytes = n, l->looked = 1;
			return LOOK;
		}
		int64_t pts = get64(head + HEADER);
		l->luma_from = get64(head + HEADER + TIME);
		l->looked = 0;
		if (kind == DECODE) { // all replies before were taken
			l->shared_next = 0;
		}
		feed(l, s, unit, n, pts);
		l->begin += HEADER + body;
		if (!answer(l, s)) {
			return FINISH;
		}
		l->served++;
		if (!said(l)) {
			return BROKEN;
		}
	}
}

int loop_next(struct loop *l) {
	int why = next(l);
	return l->reply_bytes > 0 && !say(l) ? BROKEN : why;
}
