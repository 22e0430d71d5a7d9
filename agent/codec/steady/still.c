//go:build amd64 || arm64

#include "loop.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

enum { LINES = 2 * DCTSIZE };

// failure has libjpeg return where it would end the program.
struct failure {
	struct jpeg_error_mgr manager;
	jmp_buf to;
};

static void fail(j_common_ptr c) { longjmp(((struct failure *)c->err)->to, 1); }
static void silent(j_common_ptr c, int level) { (void)c, (void)level; }

// row copies a line, repeats its last sample up to the end of its last block, and expands it.
static void row(uint8_t *to, size_t stride, const uint8_t *from, int width, int full, int chroma) {
	memcpy(to, from, (size_t)width);
	memset(to + width, from[width - 1], stride - (size_t)width);
	if (!full) {
		loop_expand(to, stride, chroma);
	}
}

// loop_still does what packages planar and jpeg do.
uint8_t *loop_still(size_t *bytes, const uint8_t *const plane[3], const int stride[3], int width, int height, int full,
                    int quality) {
	struct jpeg_compress_struct c;
	struct failure f;
	uint8_t *volatile lines = NULL;
	unsigned char *out = NULL;
	unsigned long size = 0;
	c.err = jpeg_std_error(&f.manager);
	f.manager.error_exit = fail, f.manager.emit_message = silent;
	if (setjmp(f.to) != 0) {
		jpeg_destroy_compress(&c);
		free(lines);
		return NULL;
	}
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &out, &size);
	c.image_width = (JDIMENSION)width, c.image_height = (JDIMENSION)height;
	c.input_components = 3, c.in_color_space = JCS_YCbCr;
	jpeg_set_defaults(&c); // 4:2:0
	jpeg_set_quality(&c, quality, TRUE);
	c.dct_method = JDCT_ISLOW, c.raw_data_in = TRUE;
	size_t y = (size_t)(width + LINES - 1) / LINES * LINES, chroma = y / 2;
	lines = malloc(LINES * (y + chroma));
	if (lines == NULL) {
		fail((j_common_ptr)&c);
	}
	JSAMPROW rows[3][LINES];
	JSAMPARRAY image[3] = {rows[0], rows[1], rows[2]};
	for (int i = 0; i < LINES; i++) {
		rows[0][i] = lines + (size_t)i * y;
		rows[1][i] = lines + LINES * y + (size_t)(i % DCTSIZE) * chroma;
		rows[2][i] = rows[1][i] + DCTSIZE * chroma;
	}
	jpeg_start_compress(&c, TRUE);
	for (int top = 0; top < height; top += LINES) {
		for (int p = 0; p < 3; p++) {
			int part = p == 0 ? 1 : 2, w = (width + part - 1) / part, h = (height + part - 1) / part;
			for (int i = 0; i < LINES / part; i++) {
				int at = top / part + i < h ? top / part + i : h - 1;
				row(rows[p][i], p == 0 ? y : chroma, plane[p] + (ptrdiff_t)at * stride[p], w, full, p);
			}
		}
		jpeg_write_raw_data(&c, image, LINES);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	free(lines);
	*bytes = size;
	return out;
}
