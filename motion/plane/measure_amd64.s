//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// Eight cells of 16 bits in a vector of SSE2. The cells of a thing are summed up in the parts of Sums; what is beyond the last cell is masked.

DATA lanes<>+0(SB)/8, $0x0003000200010000
DATA lanes<>+8(SB)/8, $0x0007000600050004
GLOBL lanes<>(SB), RODATA|NOPTR, $16

// x = the low 16 bits of AX eight times.
#define SPREAD(x) \
	MOVL    AX, x    \
	PSHUFLW $0, x, x \
	PSHUFL  $0, x, x

// Keeps v eight times at place.
#define KEEP(v, place) \
	MOVL  v, AX     \
	SPREAD(X0)      \
	MOVOU X0, place

// X0 = X0 under the exposure whose gain and offset are kept at these places. X13 is 0x8000 eight times; X1, X2, X14, X15 are lost.
#define APPLY(gain, offset) \
	MOVOU     gain, X15   \
	MOVOU     offset, X14 \
	MOVO      X0, X1  \
	PMULLW    X15, X0 \
	PMULHUW   X15, X1 \
	MOVO      X0, X2  \
	PUNPCKLWL X1, X0  \
	PUNPCKHWL X1, X2  \
	PSRLL     $12, X0 \
	PSRLL     $12, X2 \
	PADDL     X14, X0 \
	PADDL     X14, X2 \
	PACKSSLW  X2, X0  \
	PXOR      X13, X0

// a = |a-b|; t is lost.
#define DISTANCE(a, b, t) \
	MOVO    b, t \
	PSUBUSW a, t \
	PSUBUSW b, a \
	POR     t, a

// Counts the cells of a mask. t is lost.
#define COUNT(mask, field, t) \
	MOVOU field(DI), t \
	PSUBW mask, t      \
	MOVOU t, field(DI)

// Adds values of 16 bits. x and t are lost; X12 is 0.
#define WEIGH(x, field, t) \
	MOVO      x, t     \
	PUNPCKLWL X12, x   \
	PUNPCKHWL X12, t   \
	PADDL     t, x     \
	MOVOU     field(DI), t \
	PADDL     x, t     \
	MOVOU     t, field(DI)

// Adds the places of the cells of a mask. t and u are lost.
#define PLACE(mask, place, field, t, u) \
	MOVOU   place, t     \
	PMADDWL mask, t      \
	MOVOU   field(DI), u \
	PSUBL   t, u         \
	MOVOU   u, field(DI)

// Takes the columns of the cells of a mask, which has one at least. t and u are lost.
#define COLUMNS(mask, place, left, right, t, u) \
	PCMPEQW t, t        \
	PXOR    mask, t     \
	PSRLW   $1, t       \
	MOVOU   place, u    \
	POR     u, t        \
	PAND    mask, u     \
	MOVOU   left(DI), X15 \
	PMINSW  t, X15      \
	MOVOU   X15, left(DI) \
	MOVOU   right(DI), X15 \
	PMAXSW  u, X15      \
	MOVOU   X15, right(DI)

// X11 = a mask of those of the eight cells that are among the CX that are left. X4 is lost.
#define LANES \
	MOVL    CX, AX         \
	SPREAD(X11)            \
	MOVOU   lanes<>(SB), X4 \
	PCMPGTW X4, X11

// X10 = the thresholds of the cells at BX; X4 is not 0 in all of them if one of them is beyond 16 bits: the noise is more than most.
#define LIMITS(most, contrast, base) \
	MOVQ    Views_Noise(DX), AX \
	MOVOU   (AX)(BX*2), X10     \
	MOVO    X10, X4             \
	MOVOU   most, X5            \
	PSUBUSW X5, X4              \
	PSLLW   $2, X10             \
	MOVOU   base, X5            \
	PADDW   X5, X10             \
	MOVOU   contrast, X5        \
	PSUBUSW X10, X5             \
	PADDW   X5, X10             \
	PCMPEQW X12, X4             \
	PMOVMSKB X4, AX             \
	CMPL    AX, $0xffff

#define GAIN 0(SP)
#define OFFSET 16(SP)
#define BLINKGAIN 32(SP)
#define BLINKOFFSET 48(SP)
#define CONTRAST 64(SP)
#define YOUNG 80(SP)
#define ROW 96(SP)
#define COLUMN 112(SP)
#define MOST 128(SP)
#define PARKED 144(SP)
#define BASE 160(SP)
#define EIGHT 176(SP)

// Keeps what both loops need, and sets up the registers: DX the views, DI the sums, BX the first cell, CX how many, X12 is 0.
#define BEGIN(v, x, y, n, s) \
	MOVQ  v, DX        \
	MOVQ  s, DI        \
	MOVQ  y, BX        \
	IMULQ Views_Width(DX), BX \
	ADDQ  x, BX        \
	MOVQ  n, CX        \
	PXOR  X12, X12     \
	KEEP(Views_Contrast(DX), CONTRAST) \
	KEEP($16287, MOST) \
	KEEP($384, BASE)   \
	KEEP($8, EIGHT)    \
	KEEP(x, COLUMN)    \
	MOVOU lanes<>(SB), X1 \
	PADDW X1, X0       \
	MOVOU X0, COLUMN

#define NEXT \
	MOVOU COLUMN, X0 \
	MOVOU EIGHT, X1  \
	PADDW X1, X0     \
	MOVOU X0, COLUMN \
	ADDQ  $8, BX     \
	SUBQ  $8, CX

// func measureWide(v *Views, x, y, n int, s *Sums) (done int, solid, moved bool)
TEXT ·measureWide(SB), NOSPLIT, $192-50
	BEGIN(v+0(FP), x+8(FP), y+16(FP), n+24(FP), s+32(FP))
	KEEP(Views_Light+Exposure_Gain(DX), GAIN)
	KEEP(Views_BlinkLight+Exposure_Gain(DX), BLINKGAIN)
	MOVL    Views_Light+Exposure_Offset(DX), AX
	SUBL    $32768, AX
	MOVL    AX, X0
	PSHUFL  $0, X0, X0
	MOVOU   X0, OFFSET
	MOVL    Views_BlinkLight+Exposure_Offset(DX), AX
	SUBL    $32768, AX
	MOVL    AX, X0
	PSHUFL  $0, X0, X0
	MOVOU   X0, BLINKOFFSET
	MOVWLZX Views_Young(DX), AX
	DECL    AX
	SPREAD(X0)
	MOVOU   X0, YOUNG
	KEEP(y+16(FP), ROW)
	KEEP($const_ParkedFor, PARKED)
	PCMPEQW X13, X13
	PSLLW   $15, X13
	XORL    R12, R12
	XORL    R13, R13

loop:
	CMPQ CX, $0
	JLE  end
	LIMITS(MOST, CONTRAST, BASE)
	JNE  end
	LANES
	MOVO X11, X6

	// X11 becomes what is solid, X5 what is parked.
	MOVQ      Views_Solid(DX), AX
	MOVQ      (AX)(BX*1), X4
	PUNPCKLBW X12, X4
	PCMPGTW   X12, X4
	PAND      X4, X11
	MOVQ      Views_Parked(DX), AX
	MOVQ      (AX)(BX*1), X5
	PUNPCKLBW X12, X5
	MOVO      X5, X0
	PCMPGTW   X12, X5
	MOVO      X11, X1
	POR       X5, X1
	PAND      X6, X1
	COUNT(X1, Sums_Cells, X2)
	MOVOU     PARKED, X1
	PCMPGTW   X1, X0
	PAND      X6, X0
	MOVO      X11, X1
	PANDN     X0, X1
	COUNT(X1, Sums_Gone, X2)
	PMOVMSKB  X11, AX
	TESTL     AX, AX
	JEQ       next
	ORL       AX, R12
	COLUMNS(X11, COLUMN, Sums_Left, Sums_Right, X0, X1)

	// X3 is the picture, X8 and X9 what differs from the background and moved, X7 by how much.
	MOVQ      Views_Now(DX), AX
	MOVOU     (AX)(BX*2), X3
	MOVQ      Views_Flags(DX), AX
	MOVQ      (AX)(BX*1), X8
	PUNPCKLBW X12, X8
	MOVO      X8, X9
	PSLLW     $15, X8
	PSRAW     $15, X8
	PAND      X11, X8
	PSLLW     $14, X9
	PSRAW     $15, X9
	PAND      X11, X9
	MOVQ      Views_Background(DX), AX
	MOVOU     (AX)(BX*2), X7
	MOVO      X3, X4
	PSUBUSW   X7, X4
	DISTANCE(X7, X3, X1)
	PAND      X8, X7
	PAND      X8, X4
	WEIGH(X4, Sums_Brighter, X1)
	MOVO      X7, X4
	WEIGH(X4, Sums_ForeWeight, X1)
	MOVO      X10, X4
	PAND      X8, X4
	WEIGH(X4, Sums_ForeLimit, X1)
	COUNT(X8, Sums_Fore, X1)
	PLACE(X8, COLUMN, Sums_ForeX, X1, X2)
	PLACE(X8, ROW, Sums_ForeY, X1, X2)
	MOVQ      Views_Stay(DX), AX
	MOVOU     (AX)(BX*2), X4
	MOVOU     YOUNG, X1
	PSUBUSW   X1, X4
	PCMPEQW   X12, X4
	PAND      X8, X4
	PANDN     X4, X5
	COUNT(X5, Sums_Creep, X2)
	POR       X9, X5
	COUNT(X5, Sums_Stirs, X2)
	PMOVMSKB  X9, AX
	TESTL     AX, AX
	JEQ       blink
	ORL       AX, R13
	COLUMNS(X9, COLUMN, Sums_MovedLeft, Sums_MovedRight, X0, X1)
	COUNT(X9, Sums_Moved, X1)
	PLACE(X9, COLUMN, Sums_MovedX, X1, X2)
	PLACE(X9, ROW, Sums_MovedY, X1, X2)
	MOVQ      Views_Before(DX), AX
	MOVOU     (AX)(BX*2), X0
	APPLY(GAIN, OFFSET)
	DISTANCE(X0, X3, X1)
	PAND      X9, X0
	MOVO      X0, X4
	PSUBUSW   X7, X4
	PADDW     X4, X7
	MOVO      X0, X4
	PMULLW    X0, X4
	WEIGH(X4, Sums_SquareLow, X1)
	MOVO      X0, X4
	PMULHUW   X0, X4
	WEIGH(X4, Sums_SquareHigh, X1)
	WEIGH(X0, Sums_MovedWeight, X1)
	MOVQ      Views_Worn(DX), AX
	MOVQ      (AX)(BX*1), X4
	PUNPCKLBW X12, X4
	PAND      X9, X4
	WEIGH(X4, Sums_Worn, X1)
	PAND      X10, X9
	WEIGH(X9, Sums_Limit, X1)

blink:
	MOVQ    Views_Blink(DX), AX
	MOVOU   (AX)(BX*2), X0
	APPLY(BLINKGAIN, BLINKOFFSET)
	DISTANCE(X0, X3, X1)
	MOVO    X0, X4
	PSUBUSW X10, X4
	PCMPEQW X12, X4
	PANDN   X11, X4
	COUNT(X4, Sums_Now, X1)
	PAND    X4, X0
	WEIGH(X0, Sums_NowWeight, X1)
	WEIGH(X7, Sums_Weight, X1)

next:
	NEXT
	JMP loop

end:
	MOVQ  n+24(FP), AX
	XORL  BX, BX
	TESTQ CX, CX
	CMOVQLT BX, CX
	SUBQ  CX, AX
	MOVQ  AX, done+40(FP)
	TESTL R12, R12
	SETNE solid+48(FP)
	TESTL R13, R13
	SETNE moved+49(FP)
	RET

// One side of the cells in X5: n, b and f are the picture, the background and the flags there. X7 is the cells' background, X6 the cells, X10 their thresholds, X9 what an
// edge must be beyond light, X8 where the cells are brighter than the background. X0 to X5 and X13 to X15 are lost.
#define SIDE(n, b, f) \
	MOVOU     b, X0    \
	MOVO      X7, X1   \
	PSUBUSW   X0, X1   \
	PSUBUSW   X7, X0   \
	MOVO      X0, X2   \
	PCMPEQW   X12, X2  \
	POR       X1, X0   \
	MOVOU     n, X1    \
	MOVO      X6, X3   \
	PSUBUSW   X1, X3   \
	PSUBUSW   X6, X1   \
	MOVO      X1, X4   \
	PCMPEQW   X12, X4  \
	POR       X3, X1   \
	PXOR      X4, X2   \
	MOVQ      f, X3    \
	PUNPCKLBW X12, X3  \
	PSLLW     $15, X3  \
	PSRAW     $15, X3  \
	PAND      X5, X3   \
	PXOR      X3, X5   \
	COUNT(X3, Sums_Inner, X4) \
	COUNT(X5, Sums_Ends, X4) \
	MOVO      X0, X4   \
	PSUBUSW   X10, X4  \
	PCMPEQW   X12, X4  \
	PANDN     X3, X4   \
	COUNT(X4, Sums_Own, X14) \
	MOVO      X1, X13  \
	PADDUSW   X13, X13 \
	PADDUSW   X13, X13 \
	MOVO      X0, X14  \
	PSUBUSW   X13, X14 \
	PCMPEQW   X12, X14 \
	MOVO      X2, X13  \
	PANDN     X14, X13 \
	PANDN     X4, X13  \
	COUNT(X13, Sums_Lost, X14) \
	MOVO      X0, X4   \
	PSRLW     $2, X4   \
	MOVO      X0, X13  \
	PSLLW     $14, X13 \
	PCMPEQW   X12, X13 \
	MOVO      X0, X14  \
	PSUBW     X4, X14  \
	PSUBW     X13, X14 \
	PCMPEQW   X15, X15 \
	PADDW     X15, X14 \
	PAND      X8, X14  \
	MOVO      X8, X13  \
	PANDN     X4, X13  \
	POR       X14, X13 \
	MOVO      X0, X15  \
	PADDUSW   X4, X15  \
	PADDUSW   X0, X0   \
	PADDUSW   X0, X0   \
	PAND      X8, X0   \
	MOVO      X8, X4   \
	PANDN     X15, X4  \
	POR       X0, X4   \
	PADDUSW   X9, X4   \
	MOVO      X1, X14  \
	PSUBUSW   X4, X14  \
	MOVO      X2, X15  \
	PANDN     X14, X15 \
	MOVO      X13, X14 \
	PSUBUSW   X9, X14  \
	PSUBUSW   X1, X14  \
	MOVO      X2, X4   \
	PANDN     X14, X4  \
	POR       X4, X15  \
	PADDUSW   X1, X13  \
	PSUBUSW   X9, X13  \
	PAND      X2, X13  \
	POR       X13, X15 \
	PCMPEQW   X12, X15 \
	MOVO      X15, X14 \
	PANDN     X3, X14  \
	COUNT(X14, Sums_Torn, X4) \
	PANDN     X5, X15  \
	COUNT(X15, Sums_Sharp, X4)

// func traceWide(v *Views, x, y, n int, s *Sums) (done int)
TEXT ·traceWide(SB), NOSPLIT, $192-48
	BEGIN(v+0(FP), x+8(FP), y+16(FP), n+24(FP), s+32(FP))
	KEEP($52429, GAIN)         // two fifths
	KEEP($(const_edgeReach-1), OFFSET)
	MOVQ Views_Width(DX), R11
	MOVQ R11, AX
	SUBQ $const_edgeReach, AX
	SPREAD(X0)
	MOVOU X0, ROW              // from which column on there is nothing on the right
	MOVQ R11, R13
	NEGQ R13

loop:
	CMPQ CX, $0
	JLE  end
	LIMITS(MOST, CONTRAST, BASE)
	JNE  end
	LANES
	MOVQ      Views_Solid(DX), AX
	MOVQ      (AX)(BX*1), X4
	MOVQ      Views_Flags(DX), R10
	ADDQ      BX, R10
	MOVQ      (R10), X5
	PAND      X5, X4
	PUNPCKLBW X12, X4
	PSLLW     $15, X4
	PSRAW     $15, X4
	PAND      X4, X11
	PMOVMSKB  X11, AX
	TESTL     AX, AX
	JEQ       next
	MOVQ      Views_Now(DX), R8
	LEAQ      (R8)(BX*2), R8
	MOVQ      Views_Background(DX), R9
	LEAQ      (R9)(BX*2), R9
	MOVOU     (R8), X6
	MOVOU     (R9), X7
	MOVO      X7, X0
	PSUBUSW   X6, X0
	MOVO      X6, X8
	PSUBUSW   X7, X8
	MOVO      X8, X1
	POR       X0, X1
	PCMPEQW   X12, X8
	PCMPEQW   X2, X2
	PXOR      X2, X8
	MOVOU     GAIN, X2
	PMULHUW   X2, X1
	PSRLW     $1, X1
	MOVO      X10, X9
	MOVO      X10, X2
	PSRLW     $2, X2
	PSUBW     X2, X9
	PSUBUSW   X9, X1
	PADDW     X1, X9
	MOVOU     COLUMN, X5
	MOVOU     OFFSET, X0
	PCMPGTW   X0, X5
	PAND      X11, X5
	SIDE(-4(R8), -4(R9), -2(R10))
	MOVOU     ROW, X5
	MOVOU     COLUMN, X0
	PCMPGTW   X0, X5
	PAND      X11, X5
	SIDE(4(R8), 4(R9), 2(R10))
	MOVQ      y+16(FP), AX
	CMPQ      AX, $const_edgeReach
	JLT       low
	MOVO      X11, X5
	SIDE((R8)(R13*4), (R9)(R13*4), (R10)(R13*2))

low:
	MOVQ y+16(FP), AX
	ADDQ $const_edgeReach, AX
	CMPQ AX, Views_Height(DX)
	JGE  next
	MOVO X11, X5
	SIDE((R8)(R11*4), (R9)(R11*4), (R10)(R11*2))

next:
	NEXT
	JMP loop

end:
	MOVQ  n+24(FP), AX
	XORL  BX, BX
	TESTQ CX, CX
	CMOVQLT BX, CX
	SUBQ  CX, AX
	MOVQ  AX, done+40(FP)
	RET

// func stirsWide(flags, solid, parked []byte, stay []uint16, young uint16, bits []uint64) (done int)
TEXT ·stirsWide(SB), NOSPLIT, $0-136
	MOVQ    flags_base+0(FP), SI
	MOVQ    flags_len+8(FP), CX
	MOVQ    solid_base+24(FP), R8
	MOVQ    parked_base+48(FP), R9
	MOVQ    stay_base+72(FP), R10
	MOVWLZX young+96(FP), AX
	MOVQ    bits_base+104(FP), DI
	DECL    AX
	SPREAD(X6)
	ANDQ    $~15, CX
	MOVQ    CX, done+128(FP)
	PXOR    X7, X7
	XORQ    BX, BX

loop:
	CMPQ     BX, CX
	JGE      end
	MOVOU    (R10)(BX*2), X0
	MOVOU    16(R10)(BX*2), X1
	PSUBUSW  X6, X0
	PSUBUSW  X6, X1
	PCMPEQW  X7, X0
	PCMPEQW  X7, X1
	PACKSSWB X1, X0
	MOVOU    (R9)(BX*1), X2
	PCMPEQB  X7, X2
	PAND     X2, X0
	MOVOU    (SI)(BX*1), X1
	MOVO     X1, X2
	PSLLW    $7, X1            // only the highest bit of each byte counts
	PSLLW    $6, X2
	PAND     X1, X0
	POR      X2, X0
	MOVOU    (R8)(BX*1), X1
	PSLLW    $7, X1
	PAND     X1, X0
	PMOVMSKB X0, AX
	MOVW     AX, (DI)
	ADDQ     $2, DI
	ADDQ     $16, BX
	JMP      loop

end:
	RET
