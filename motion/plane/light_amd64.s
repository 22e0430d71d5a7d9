//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"
#include "light_amd64.h"

// Loops over cells in another light: eight cells of 16 bits in a vector of SSE2, or sixteen in one of AVX2.

// func exposeWide(cells []uint16, gain, offset int32) (done int)
TEXT ·exposeWide(SB), NOSPLIT, $0-40
	LIGHT(gain+24(FP), offset+28(FP))
	MOVQ cells_base+0(FP), SI
	MOVQ cells_len+8(FP), CX
	ANDQ $~7, CX
	MOVQ CX, done+32(FP)
	JZ   end

loop:
	MOVOU (SI), X0
	APPLY
	MOVOU X0, (SI)
	ADDQ  $16, SI
	SUBQ  $8, CX
	JNZ   loop

end:
	RET

// The flags of the eight cells at BX as words in r: -1 without, 0 with, for moved and fore. X10 is the contrast, X11 384.
#define FLAGS(moved, fore) \
	MOVOU   (DI)(BX*2), X0  \
	APPLY                   \
	MOVOU   (SI)(BX*2), X3  \
	MOVOU   (R9)(BX*2), X4  \
	PADDUSW X4, X4          \
	PADDUSW X4, X4          \
	PADDUSW X11, X4         \
	MOVO    X10, X5         \
	PSUBUSW X4, X5          \
	PADDW   X5, X4          \
	DISTANCE(X0, X3, X1)    \
	PSUBUSW X4, X0          \
	MOVOU   (R8)(BX*2), X2  \
	DISTANCE(X2, X3, X1)    \
	PSUBUSW X4, X2          \
	PXOR    moved, moved    \
	MOVO    moved, fore     \
	PCMPEQW X0, moved       \
	PCMPEQW X2, fore

// The same for the sixteen cells that begin so many bytes behind BX, with AVX2. A cell has no flag if it stays what it is when it is brought to within the threshold of the picture.
// Y10 is the contrast, Y11 384, Y12 the noise that is enough for any difference. Y0 to Y5 are lost.
#define FLAGSY(bytes, moved, fore) \
	VMOVDQU  bytes(DI)(BX*2), Y0      \
	APPLYY                            \
	VPMINUW  bytes(R9)(BX*2), Y12, Y4 \
	VPSLLW   $2, Y4, Y4               \
	VPADDUSW Y11, Y4, Y4              \
	VPMAXUW  Y10, Y4, Y4              \
	VMOVDQU  bytes(SI)(BX*2), Y3      \
	VPADDUSW Y4, Y3, Y5               \
	VPSUBUSW Y4, Y3, Y3               \
	VPMAXUW  Y3, Y0, moved            \
	VPMINUW  Y5, moved, moved         \
	VPCMPEQW Y0, moved, moved         \
	VMOVDQU  bytes(R8)(BX*2), Y0      \
	VPMAXUW  Y3, Y0, fore             \
	VPMINUW  Y5, fore, fore           \
	VPCMPEQW Y0, fore, fore

// func classifyWide(now, before []uint16, gain, offset int32, background, noise []uint16, contrast int32, flags []byte) (done int)
TEXT ·classifyWide(SB), NOSPLIT, $0-144
	MOVQ now_base+0(FP), SI
	MOVQ now_len+8(FP), CX
	MOVQ before_base+24(FP), DI
	MOVQ background_base+56(FP), R8
	MOVQ noise_base+80(FP), R9
	MOVQ flags_base+112(FP), R10
	ANDQ $~15, CX
	MOVQ CX, done+136(FP)
	XORQ BX, BX
	CMPB ·hasAVX2(SB), $1
	JEQ  avx2

rest:
	LIGHT(gain+48(FP), offset+52(FP))
	SPREADL(contrast+104(FP), X10)
	SPREADL($384, X11)
	SPREADL($0x0202, X12)

loop:
	CMPQ BX, CX
	JGE  end
	FLAGS(X6, X7)
	ADDQ $8, BX
	FLAGS(X8, X9)
	SUBQ $8, BX
	PACKSSWB X8, X6
	PACKSSWB X9, X7
	PANDN    X12, X6           // 2 where flagged
	PANDN    X12, X7
	PSRLW    $1, X7            // 1 where flagged
	POR      X7, X6
	MOVOU    X6, (R10)(BX*1)
	ADDQ     $16, BX
	JMP      loop

end:
	RET

avx2:
	LIGHTY(gain+48(FP), offset+52(FP))
	SPREADYL(contrast+104(FP), X10, Y10)
	SPREADYL($384, X11, Y11)
	SPREADYL($16383, X12, Y12)
	SPREADYL($0x0202, X13, Y13)
	SUBQ $32, CX
	JMP  testy

loopy:
	FLAGSY(0, Y6, Y7)
	FLAGSY(32, Y8, Y9)
	VPACKSSWB Y8, Y6, Y6
	VPACKSSWB Y9, Y7, Y7
	VPANDN    Y13, Y6, Y6
	VPANDN    Y13, Y7, Y7
	VPSRLW    $1, Y7, Y7
	VPOR      Y7, Y6, Y6
	VPERMQ    $0xD8, Y6, Y6
	VMOVDQU   Y6, (R10)(BX*1)
	ADDQ      $32, BX

testy:
	CMPQ BX, CX
	JLE  loopy
	VZEROUPPER
	ADDQ $32, CX
	JMP  rest

// func sumWide(x, y []uint16, gain, offset, limit int32, m *Moments)
TEXT ·sumWide(SB), NOSPLIT, $0-72
	CMPB ·hasAVX2(SB), $1
	JEQ  avx2
	LIGHT(gain+48(FP), offset+52(FP))
	SPREADL(limit+56(FP), X6)
	SPREADL($256, X5)
	SPREADL($65024, X4)
	MOVQ x_base+0(FP), SI
	MOVQ x_len+8(FP), CX
	MOVQ y_base+24(FP), R8
	MOVQ m+64(FP), DI
	PXOR X7, X7                // rest
	PXOR X8, X8                // points, as words
	PXOR X9, X9                // x
	PXOR X10, X10              // y
	PXOR X11, X11              // x*x: 128 times two products of 12 bits by 12 bits stay below 1<<32
	PXOR X12, X12              // x*y
	XORQ BX, BX

loop:
	CMPQ BX, CX
	JGE  end

	// X1 becomes -1 where the point counts.
	MOVOU   (SI)(BX*2), X0
	APPLY
	MOVOU   (R8)(BX*2), X3
	DISTANCE(X0, X3, X1)
	MOVO    X0, X1
	PSUBUSW X6, X1
	MOVO    X5, X2
	PSUBUSW X3, X2
	POR     X2, X1
	MOVO    X3, X2
	PSUBUSW X4, X2
	POR     X2, X1
	PXOR    X2, X2
	PCMPEQW X2, X1
	PSUBW   X1, X8

	// X2 is 1 eight times, so that PMADDWL adds neighbours.
	PCMPEQW X2, X2
	PSRLW   $15, X2
	PAND    X1, X0
	PMADDWL X2, X0
	PADDL   X0, X7
	MOVOU   (SI)(BX*2), X0
	PSRLW   $4, X0
	PAND    X1, X0
	PSRLW   $4, X3
	PAND    X1, X3
	MOVO    X0, X1
	PMADDWL X2, X1
	PADDL   X1, X9
	MOVO    X3, X1
	PMADDWL X2, X1
	PADDL   X1, X10
	PMADDWL X0, X3
	PADDL   X3, X12
	PMADDWL X0, X0
	PADDL   X0, X11
	ADDQ    $8, BX
	JMP     loop

end:
	PCMPEQW X2, X2
	PSRLW   $15, X2
	PMADDWL X2, X8
	TOTAL(X8, Moments_N)
	TOTAL(X9, Moments_X)
	TOTAL(X10, Moments_Y)
	TOTAL(X11, Moments_XX)
	TOTAL(X12, Moments_XY)
	TOTAL(X7, Moments_Rest)
	RET

avx2:
	LIGHTY(gain+48(FP), offset+52(FP))
	SPREADYL(limit+56(FP), X6, Y6)
	SPREADYL($256, X5, Y5)
	SPREADYL($65024, X4, Y4)
	SPREADYL($1, X13, Y13)
	MOVQ  x_base+0(FP), SI
	MOVQ  x_len+8(FP), CX
	MOVQ  y_base+24(FP), R8
	MOVQ  m+64(FP), DI
	VPXOR Y7, Y7, Y7
	VPXOR Y8, Y8, Y8
	VPXOR Y9, Y9, Y9
	VPXOR Y10, Y10, Y10
	VPXOR Y11, Y11, Y11
	VPXOR Y12, Y12, Y12
	XORQ  BX, BX

loopy:
	CMPQ      BX, CX
	JGE       endy
	VMOVDQU   (SI)(BX*2), Y0
	APPLYY
	VMOVDQU   (R8)(BX*2), Y3
	DISTANCEY(Y0, Y3, Y1)
	VPSUBUSW  Y6, Y0, Y1
	VPSUBUSW  Y3, Y5, Y2
	VPOR      Y2, Y1, Y1
	VPSUBUSW  Y4, Y3, Y2
	VPOR      Y2, Y1, Y1
	VPXOR     Y2, Y2, Y2
	VPCMPEQW  Y2, Y1, Y1
	VPSUBW    Y1, Y8, Y8
	VPAND     Y1, Y0, Y0
	VPMADDWD  Y13, Y0, Y0
	VPADDD    Y0, Y7, Y7
	VMOVDQU   (SI)(BX*2), Y0
	VPSRLW    $4, Y0, Y0
	VPAND     Y1, Y0, Y0
	VPSRLW    $4, Y3, Y3
	VPAND     Y1, Y3, Y3
	VPMADDWD  Y13, Y0, Y1
	VPADDD    Y1, Y9, Y9
	VPMADDWD  Y13, Y3, Y1
	VPADDD    Y1, Y10, Y10
	VPMADDWD  Y0, Y3, Y3
	VPADDD    Y3, Y12, Y12
	VPMADDWD  Y0, Y0, Y0
	VPADDD    Y0, Y11, Y11
	ADDQ      $16, BX
	JMP       loopy

// Adds the upper half of y to x, its lower half. X0 is lost.
#define HALVE(y, x) \
	VEXTRACTI128 $1, y, X0 \
	VPADDD       X0, x, x

endy:
	VPMADDWD Y13, Y8, Y8
	HALVE(Y7, X7)
	HALVE(Y8, X8)
	HALVE(Y9, X9)
	HALVE(Y10, X10)
	HALVE(Y11, X11)
	HALVE(Y12, X12)
	VZEROUPPER
	TOTAL(X8, Moments_N)
	TOTAL(X9, Moments_X)
	TOTAL(X10, Moments_Y)
	TOTAL(X11, Moments_XX)
	TOTAL(X12, Moments_XY)
	TOTAL(X7, Moments_Rest)
	RET

// func likeWide(x, y []uint16, pitch, rows int, l *Likeness)
TEXT ·likeWide(SB), NOSPLIT, $0-72
	MOVQ    x_base+0(FP), SI
	MOVQ    y_base+24(FP), R8
	MOVQ    pitch+48(FP), R9
	MOVQ    rows+56(FP), CX
	MOVQ    l+64(FP), DI
	ADDQ    R9, R9
	PCMPEQW X6, X6
	PSRLW   $15, X6
	PXOR    X8, X8
	PXOR    X9, X9
	PXOR    X10, X10
	PXOR    X11, X11
	PXOR    X12, X12

loop:
	MOVOU   (SI), X2
	MOVOU   (R8), X3
	PSRLW   $4, X2
	PSRLW   $4, X3
	MOVO    X2, X4
	MOVO    X3, X5
	PMADDWL X6, X4
	PMADDWL X6, X5
	PADDL   X4, X8
	PADDL   X5, X9
	MOVO    X2, X4
	MOVO    X3, X5
	PMADDWL X3, X4
	PADDL   X4, X12
	PMADDWL X2, X2
	PMADDWL X3, X3
	PADDL   X2, X10
	PADDL   X3, X11
	ADDQ    R9, SI
	ADDQ    R9, R8
	DECQ    CX
	JNZ     loop
	TOTAL(X8, Likeness_X)
	TOTAL(X9, Likeness_Y)
	TOTAL(X10, Likeness_XX)
	TOTAL(X11, Likeness_YY)
	TOTAL(X12, Likeness_XY)
	RET
