//go:build amd64 || arm64

#include "loop.h"

#include <stdlib.h>
#include <string.h>

#define ALWAYS inline __attribute__((always_inline))

// expanded is limited range in full range: what planar's table says, without a table. x·36/219 in
// 8 bits behind the point, rounded; the test compares all 256.
static ALWAYS uint8_t expanded(uint8_t v) {
	uint8_t cut = v < 16 ? 0 : v - 16;
	uint16_t x = cut > 219 ? 219 : cut;
	uint16_t part = (uint16_t)((uint32_t)(uint16_t)(x << 8) * 10770u >> 16);
	return (uint8_t)(x + (uint16_t)(part + 129) / 256);
}

static ALWAYS void expand(uint8_t *p, int n) {
	for (int i = 0; i < n; i++) {
		p[i] = expanded(p[i]);
	}
}

static ALWAYS void half(uint8_t *restrict to, const uint8_t *restrict top, const uint8_t *restrict bottom,
                        int w) {
	for (int x = 0; x < w; x++) {
		uint16_t a, b;
		memcpy(&a, top + 2 * x, 2);
		memcpy(&b, bottom + 2 * x, 2);
		uint16_t sum = (uint16_t)((a & 0xff) + (a >> 8) + (b & 0xff) + (b >> 8));
		to[x] = (uint8_t)((sum + 2) >> 2);
	}
}

// whole is for ratios of 3 to 128: the sums of columns fit 16 bits.
static ALWAYS void whole(uint8_t *restrict to, int w, const uint8_t *restrict from, int stride, int k,
                         uint16_t *restrict columns) {
	uint32_t area = (uint32_t)(k * k);
	uint64_t factor = (1ull << 40) / area + 1; // exact: see planar's sumLanes
	for (int x = 0; x < w * k; x++) {
		columns[x] = from[x];
	}
	for (int r = 1; r < k; r++) {
		const uint8_t *restrict row = from + (ptrdiff_t)r * stride;
		for (int x = 0; x < w * k; x++) {
			columns[x] = (uint16_t)(columns[x] + row[x]);
		}
	}
	for (int x = 0; x < w; x++, columns += k) {
		uint32_t sum = 0;
		for (int i = 0; i < k; i++) {
			sum += columns[i];
		}
		sum += area / 2;
		to[x] = (uint8_t)(__builtin_constant_p(k) ? sum / area : sum * factor >> 40);
	}
}

static int64_t overlap(int64_t i, int64_t w, int64_t x, int64_t all) {
	int64_t end = (i + 1) * w < (x + 1) * all ? (i + 1) * w : (x + 1) * all;
	int64_t begin = i * w > x * all ? i * w : x * all;
	return end - begin;
}

// span is what a column takes of a row: from[first] times head, whole samples, from[last] times tail.
struct span {
	int first, last;
	uint64_t head, tail; // tail is 0 when first is last
};

// down adds up the rows that a row of the picture covers, each by its share: at most 255 times the height.
static ALWAYS void down(uint32_t *restrict to, const uint8_t *restrict row, uint32_t weight, int width) {
	for (int x = 0; x < width; x++) {
		to[x] += weight * row[x];
	}
}

// any is for all other ratios. In units of 1/w and 1/h of a sample all weights are whole numbers.
static ALWAYS int any(uint8_t *to, int w, int h, const uint8_t *from, int stride, int width, int height) {
	struct span *spans = malloc((size_t)w * sizeof *spans + (size_t)width * sizeof(uint32_t));
	if (spans == NULL) {
		return 0;
	}
	uint32_t *sums = (uint32_t *)(spans + w);
	for (int x = 0; x < w; x++) {
		struct span s = {.first = (int)((int64_t)x * width / w), .last = (int)(((int64_t)(x + 1) * width - 1) / w)};
		s.head = (uint64_t)overlap(s.first, w, x, width);
		s.tail = s.last == s.first ? 0 : (uint64_t)overlap(s.last, w, x, width);
		spans[x] = s;
	}
	uint64_t area = (uint64_t)width * (uint64_t)height;
	uint64_t factor = (uint64_t)(((unsigned __int128)1 << 64) / area) + 1; // exact: see planar's divider
	for (int y = 0; y < h; y++, to += w) {
		memset(sums, 0, (size_t)width * sizeof *sums);
		for (int64_t j = (int64_t)y * height / h; j < height && j * h < (int64_t)(y + 1) * height; j++) {
			down(sums, from + j * stride, (uint32_t)overlap(j, h, y, height), width);
		}
		for (int x = 0; x < w; x++) {
			struct span s = spans[x];
			uint64_t inner = 0;
			for (int i = s.first + 1; i < s.last; i++) {
				inner += sums[i];
			}
			uint64_t sum = s.head * sums[s.first] + (uint64_t)w * inner + s.tail * sums[s.last];
			to[x] = area == 1 ? (uint8_t)sum : (uint8_t)((unsigned __int128)(sum + area / 2) * factor >> 64);
		}
	}
	free(spans);
	return 1;
}

static ALWAYS int reduce(uint8_t *to, int w, int h, const uint8_t *from, int stride, int width, int height,
                         int full) {
	int k = width % w == 0 && height % h == 0 && width / w == height / h ? width / w : 0;
	uint16_t *columns = NULL;
	if (k > 2 && k <= 128 && (columns = malloc((size_t)width * sizeof *columns)) == NULL) {
		return 0;
	}
	if (k == 0 || k > 128) {
		if (!any(to, w, h, from, stride, width, height)) {
			return 0;
		}
	}
	for (int y = 0; y < h; y++) {
		uint8_t *row = to + (size_t)y * (size_t)w;
		const uint8_t *source = from + (ptrdiff_t)y * k * stride;
		if (k == 1) {
			memcpy(row, source, (size_t)w);
		} else if (k == 2) {
			half(row, source, source + stride, w);
		} else if (k == 3) { // of 960x540, 1280x720 and 1920x1080: the ratio is known to the compiler
			whole(row, w, source, stride, 3, columns);
		} else if (k == 4) {
			whole(row, w, source, stride, 4, columns);
		} else if (k == 6) {
			whole(row, w, source, stride, 6, columns);
		} else if (columns != NULL) {
			whole(row, w, source, stride, k, columns);
		}
		if (!full) {
			expand(row, w);
		}
	}
	free(columns);
	return 1;
}

// expanded_chroma is the same of chroma: 31/224 of its distance from 128, rounded away from it.
static ALWAYS uint8_t expanded_chroma(uint8_t v) {
	uint16_t from = v < 128 ? 128 - v : v - 128;
	uint16_t part = (uint16_t)((uint32_t)(uint16_t)(from << 8) * 9072u >> 16);
	uint16_t far = from + (uint16_t)(part + 128) / 256;
	uint16_t down = far > 128 ? 0 : 128 - far, up = far > 127 ? 255 : 128 + far;
	return (uint8_t)(v < 128 ? down : up);
}

static ALWAYS void expand_all(uint8_t *p, size_t n, int chroma) {
	if (chroma) {
		for (size_t i = 0; i < n; i++) {
			p[i] = expanded_chroma(p[i]);
		}
		return;
	}
	for (size_t i = 0; i < n; i++) {
		p[i] = expanded(p[i]);
	}
}

// Twice as fast where the processor has AVX2.
#ifdef __x86_64__
#define AVX2 __attribute__((target("avx2")))
AVX2 static int reduce_avx2(uint8_t *to, int w, int h, const uint8_t *from, int stride, int width, int height,
                            int full) {
	return reduce(to, w, h, from, stride, width, height, full);
}
AVX2 static void expand_avx2(uint8_t *p, size_t n, int chroma) { expand_all(p, n, chroma); }
#define HAS_AVX2 __builtin_cpu_supports("avx2")
#else
#define reduce_avx2 reduce
#define expand_avx2 expand_all
#define HAS_AVX2 0
#endif

int loop_reduce(uint8_t *to, int w, int h, const uint8_t *from, int stride, int width, int height, int full) {
	return HAS_AVX2 ? reduce_avx2(to, w, h, from, stride, width, height, full)
	                : reduce(to, w, h, from, stride, width, height, full);
}

void loop_expand(uint8_t *p, size_t n, int chroma) {
	if (HAS_AVX2) {
		expand_avx2(p, n, chroma);
	} else {
		expand_all(p, n, chroma);
	}
}
