//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// The loops of measure_amd64.s with AVX2: eight cells of 16 bits of a row in the lower half of a vector, those of the row below in the upper half. Things are so narrow that a vector of
// one row would be mostly empty.

DATA steps<>+0(SB)/8, $0x0003000200010000
DATA steps<>+8(SB)/8, $0x0007000600050004
DATA steps<>+16(SB)/8, $0x0003000200010000
DATA steps<>+24(SB)/8, $0x0007000600050004
GLOBL steps<>(SB), RODATA|NOPTR, $32

DATA below<>+0(SB)/8, $0
DATA below<>+8(SB)/8, $0
DATA below<>+16(SB)/8, $0x0001000100010001
DATA below<>+24(SB)/8, $0x0001000100010001
GLOBL below<>(SB), RODATA|NOPTR, $32

// The same in all cells: what a threshold is made of, the noise above which it is beyond 16 bits, two fifths, and what else is compared with.
DATA base<>+0(SB)/8, $0x0180018001800180
DATA base<>+8(SB)/8, $0x0180018001800180
DATA base<>+16(SB)/8, $0x0180018001800180
DATA base<>+24(SB)/8, $0x0180018001800180
GLOBL base<>(SB), RODATA|NOPTR, $32
DATA most<>+0(SB)/8, $0x3f9f3f9f3f9f3f9f
DATA most<>+8(SB)/8, $0x3f9f3f9f3f9f3f9f
DATA most<>+16(SB)/8, $0x3f9f3f9f3f9f3f9f
DATA most<>+24(SB)/8, $0x3f9f3f9f3f9f3f9f
GLOBL most<>(SB), RODATA|NOPTR, $32
DATA fifths<>+0(SB)/8, $0xcccdcccdcccdcccd
DATA fifths<>+8(SB)/8, $0xcccdcccdcccdcccd
DATA fifths<>+16(SB)/8, $0xcccdcccdcccdcccd
DATA fifths<>+24(SB)/8, $0xcccdcccdcccdcccd
GLOBL fifths<>(SB), RODATA|NOPTR, $32
DATA eight<>+0(SB)/8, $0x0008000800080008
DATA eight<>+8(SB)/8, $0x0008000800080008
DATA eight<>+16(SB)/8, $0x0008000800080008
DATA eight<>+24(SB)/8, $0x0008000800080008
GLOBL eight<>(SB), RODATA|NOPTR, $32
DATA reach<>+0(SB)/8, $((const_edgeReach-1)*0x0001000100010001)
DATA reach<>+8(SB)/8, $((const_edgeReach-1)*0x0001000100010001)
DATA reach<>+16(SB)/8, $((const_edgeReach-1)*0x0001000100010001)
DATA reach<>+24(SB)/8, $(const_edgeReach-1)*0x0001000100010001
GLOBL reach<>(SB), RODATA|NOPTR, $32
DATA parkedFor<>+0(SB)/8, $(const_ParkedFor*0x0001000100010001)
DATA parkedFor<>+8(SB)/8, $(const_ParkedFor*0x0001000100010001)
DATA parkedFor<>+16(SB)/8, $(const_ParkedFor*0x0001000100010001)
DATA parkedFor<>+24(SB)/8, $(const_ParkedFor*0x0001000100010001)
GLOBL parkedFor<>(SB), RODATA|NOPTR, $32

// y = the low 16 bits of AX sixteen times; x is its lower half.
#define SPREADA(x, y) \
	MOVL         AX, x \
	VPBROADCASTW x, y

// y = the cells of 16 bits at BX and R11 of a field of the views; x is its lower half. AX is lost.
#define HALVES(field, x, y) \
	MOVQ        field(DX), AX            \
	VMOVDQU     (AX)(BX*2), x            \
	VINSERTI128 $1, (AX)(R11*2), y, y

// The same for cells of a byte.
#define BYTES(field, x, y) \
	MOVQ      field(DX), AX         \
	VMOVQ     (AX)(BX*1), x         \
	VMOVHPS   (AX)(R11*1), x, x     \
	VPMOVZXBW x, y

// Y0 = Y0 under an exposure of the views. Y1, Y2, Y14, Y15 are lost.
#define APPLYAT(light) \
	VPBROADCASTW light+Exposure_Gain(DX), Y15   \
	VPBROADCASTD light+Exposure_Offset(DX), Y14 \
	VPMULLW    Y15, Y0, Y1 \
	VPMULHUW   Y15, Y0, Y2 \
	VPUNPCKLWD Y2, Y1, Y0  \
	VPUNPCKHWD Y2, Y1, Y1  \
	VPSRLD     $12, Y0, Y0 \
	VPSRLD     $12, Y1, Y1 \
	VPADDD     Y14, Y0, Y0 \
	VPADDD     Y14, Y1, Y1 \
	VPACKUSDW  Y1, Y0, Y0

// a = |a-b|; t is lost.
#define DISTANCEY(a, b, t) \
	VPSUBUSW b, a, t \
	VPSUBUSW a, b, a \
	VPOR     t, a, a

// Counts the cells of a mask. t is lost.
#define COUNTY(mask, field, t) \
	VMOVDQU field(DI), t  \
	VPSUBW  mask, t, t    \
	VMOVDQU t, field(DI)

// Adds values of 16 bits. x and t are lost; Y12 is 0.
#define WEIGHY(x, field, t) \
	VPUNPCKLWD Y12, x, t        \
	VPUNPCKHWD Y12, x, x        \
	VPADDD     t, x, x          \
	VPADDD     field(DI), x, x  \
	VMOVDQU    x, field(DI)

// Adds the places of the cells of a mask. t and u are lost.
#define PLACEY(mask, place, field, t, u) \
	VPMADDWD place, mask, t  \
	VMOVDQU  field(DI), u    \
	VPSUBD   t, u, u         \
	VMOVDQU  u, field(DI)

// Takes the columns of the cells of a mask, which has one at least. t and u are lost.
#define COLUMNSOF(mask, place, left, right, t, u) \
	VPCMPEQW t, t, t              \
	VPXOR    mask, t, t           \
	VPSRLW   $1, t, t             \
	VMOVDQU  place, u             \
	VPOR     u, t, t              \
	VPAND    mask, u, u           \
	VPMINSW  left(DI), t, t       \
	VPMAXSW  right(DI), u, u      \
	VMOVDQU  t, left(DI)          \
	VMOVDQU  u, right(DI)

// Y11 = a mask of those of the columns that are among the CX that are left.
#define LANESY \
	MOVL     CX, AX              \
	SPREADA(X11, Y11)            \
	VPCMPGTW steps<>(SB), Y11, Y11

// Y10 = the thresholds of the cells; not zero if one of them is beyond 16 bits: the noise is more than most. Y4 and Y5 are lost.
#define LIMITSY \
	HALVES(Views_Noise, X10, Y10) \
	VPBROADCASTW Views_Contrast(DX), Y5 \
	VPSUBUSW most<>(SB), Y10, Y4 \
	VPSLLW   $2, Y10, Y10        \
	VPADDW   base<>(SB), Y10, Y10 \
	VPMAXUW  Y5, Y10, Y10        \
	VPTEST   Y4, Y4

#define COLUMN 0(SP)
#define ROW 32(SP)
#define RIGHT 32(SP)

// What a side is compared with: the cells' thresholds, what an edge must be beyond light, and the cells that have one on the left, on the right, and at all.
#define OWN 64(SP)
#define LIMIT 96(SP)
#define LEFT 128(SP)
#define BESIDE 160(SP)
#define ALL 192(SP)

// Keeps the columns, and sets up the registers: DX the views, DI the sums, BX the first cell and R11 the one below it, CX how many, Y12 is 0.
#define BEGIN(v, x, y, n, s) \
	MOVQ  v, DX        \
	MOVQ  s, DI        \
	MOVQ  Views_Width(DX), R11 \
	MOVQ  y, BX        \
	IMULQ R11, BX      \
	ADDQ  x, BX        \
	ADDQ  BX, R11      \
	MOVQ  n, CX        \
	VPXOR Y12, Y12, Y12 \
	MOVL    x, AX       \
	SPREADA(X0, Y0)     \
	VPADDW  steps<>(SB), Y0, Y0 \
	VMOVDQU Y0, COLUMN

// Goes on to the next eight columns. Y0 is lost.
#define NEXT \
	VMOVDQU eight<>(SB), Y0  \
	VPADDW  COLUMN, Y0, Y0   \
	VMOVDQU Y0, COLUMN       \
	ADDQ    $8, BX           \
	ADDQ    $8, R11          \
	SUBQ    $8, CX

// func measurePairWide(v *Views, x, y, n int, s *Sums) (done int, solid, moved uint32)
TEXT ·measurePairWide(SB), NOSPLIT, $64-56
	BEGIN(v+0(FP), x+8(FP), y+16(FP), n+24(FP), s+32(FP))
	MOVQ         y+16(FP), AX
	SPREADA(X0, Y0)
	VPADDW       below<>(SB), Y0, Y0
	VMOVDQU      Y0, ROW
	XORL         R12, R12
	XORL         R13, R13

loop:
	CMPQ CX, $0
	JLE  end
	LIMITSY
	JNZ  end
	LANESY
	VMOVDQA Y11, Y6

	// Y11 becomes what is solid, Y5 what is parked.
	BYTES(Views_Solid, X4, Y4)
	VPCMPGTW  Y12, Y4, Y4
	VPAND     Y4, Y11, Y11
	BYTES(Views_Parked, X0, Y0)
	VPCMPGTW  Y12, Y0, Y5
	VPOR      Y5, Y11, Y1
	VPAND     Y6, Y1, Y1
	COUNTY(Y1, Sums_Cells, Y2)
	VPCMPGTW  parkedFor<>(SB), Y0, Y0
	VPAND     Y6, Y0, Y0
	VPANDN    Y0, Y11, Y1
	COUNTY(Y1, Sums_Gone, Y2)
	VPMOVMSKB Y11, AX
	TESTL     AX, AX
	JEQ       next
	ORL       AX, R12
	COLUMNSOF(Y11, COLUMN, Sums_Left, Sums_Right, Y0, Y1)

	// Y3 is the picture, Y8 and Y9 what differs from the background and moved, Y7 by how much.
	HALVES(Views_Now, X3, Y3)
	BYTES(Views_Flags, X8, Y8)
	VPSLLW    $14, Y8, Y9
	VPSLLW    $15, Y8, Y8
	VPSRAW    $15, Y9, Y9
	VPSRAW    $15, Y8, Y8
	VPAND     Y11, Y9, Y9
	VPAND     Y11, Y8, Y8
	HALVES(Views_Background, X7, Y7)
	VPSUBUSW  Y7, Y3, Y13
	DISTANCEY(Y7, Y3, Y1)
	VPAND     Y8, Y7, Y7
	VPAND     Y8, Y13, Y13
	WEIGHY(Y13, Sums_Brighter, Y1)
	VMOVDQA   Y7, Y13
	WEIGHY(Y13, Sums_ForeWeight, Y1)
	VPAND     Y10, Y8, Y13
	WEIGHY(Y13, Sums_ForeLimit, Y1)
	COUNTY(Y8, Sums_Fore, Y1)
	PLACEY(Y8, COLUMN, Sums_ForeX, Y1, Y2)
	PLACEY(Y8, ROW, Sums_ForeY, Y1, Y2)
	HALVES(Views_Stay, X4, Y4)
	VPBROADCASTW Views_Young(DX), Y0
	VPMAXUW   Y0, Y4, Y0
	VPCMPEQW  Y0, Y4, Y4
	VPANDN    Y8, Y4, Y4
	VPANDN    Y4, Y5, Y5
	COUNTY(Y5, Sums_Creep, Y2)
	VPOR      Y9, Y5, Y5
	COUNTY(Y5, Sums_Stirs, Y2)
	VPMOVMSKB Y9, AX
	TESTL     AX, AX
	JEQ       blink
	ORL       AX, R13
	COLUMNSOF(Y9, COLUMN, Sums_MovedLeft, Sums_MovedRight, Y0, Y1)
	COUNTY(Y9, Sums_Moved, Y1)
	PLACEY(Y9, COLUMN, Sums_MovedX, Y1, Y2)
	PLACEY(Y9, ROW, Sums_MovedY, Y1, Y2)
	HALVES(Views_Before, X0, Y0)
	APPLYAT(Views_Light)
	DISTANCEY(Y0, Y3, Y1)
	VPAND     Y9, Y0, Y0
	VPMAXUW   Y0, Y7, Y7
	VPMULLW   Y0, Y0, Y4
	WEIGHY(Y4, Sums_SquareLow, Y1)
	VPMULHUW  Y0, Y0, Y4
	WEIGHY(Y4, Sums_SquareHigh, Y1)
	WEIGHY(Y0, Sums_MovedWeight, Y1)
	BYTES(Views_Worn, X4, Y4)
	VPAND     Y9, Y4, Y4
	WEIGHY(Y4, Sums_Worn, Y1)
	VPAND     Y10, Y9, Y9
	WEIGHY(Y9, Sums_Limit, Y1)

blink:
	HALVES(Views_Blink, X0, Y0)
	APPLYAT(Views_BlinkLight)
	DISTANCEY(Y0, Y3, Y1)
	VPSUBUSW Y10, Y0, Y4
	VPCMPEQW Y12, Y4, Y4
	VPANDN   Y11, Y4, Y4
	COUNTY(Y4, Sums_Now, Y1)
	VPAND    Y4, Y0, Y0
	WEIGHY(Y0, Sums_NowWeight, Y1)
	WEIGHY(Y7, Sums_Weight, Y1)

next:
	NEXT
	JMP loop

end:
	VZEROUPPER
	MOVQ  n+24(FP), AX
	XORL  BX, BX
	TESTQ CX, CX
	CMOVQLT BX, CX
	SUBQ  CX, AX
	MOVQ  AX, done+40(FP)
	MOVL  R12, solid+48(FP)
	MOVL  R13, moved+52(FP)
	RET

// One side of some cells: n, b and f are the picture, the background and the flags there, n2, b2 and f2 of the row below. Y7 is the cells' background, Y6 the cells, Y8 where they are
// brighter than the background. Y9 counts what is inside, Y10 of that the edges of the background's, Y11 of those what is lost, Y13 of what is inside the edges that no light makes, Y14 those edges at all.
// Y0 becomes the background's edge, Y1 the picture's, Y2 where they go opposite ways, Y3 what is inside, Y5 the least that light makes of the edge, Y4 the most, and then by how much it is
// beyond. Y0 to Y5 are lost.
#define SIDE(cells, n, n2, b, b2, f, f2) \
	VMOVDQU     b, X0           \
	VINSERTI128 $1, b2, Y0, Y0  \
	VMOVDQU     n, X1           \
	VINSERTI128 $1, n2, Y1, Y1  \
	VMOVQ       f, X3           \
	VMOVHPS     f2, X3, X3      \
	VPMOVZXBW   X3, Y3          \
	VPSUBUSW    Y0, Y7, Y4      \
	VPSUBUSW    Y7, Y0, Y0      \
	VPCMPEQW    Y12, Y0, Y2     \
	VPOR        Y4, Y0, Y0      \
	VPSUBUSW    Y1, Y6, Y4      \
	VPSUBUSW    Y6, Y1, Y1      \
	VPCMPEQW    Y12, Y1, Y5     \
	VPOR        Y4, Y1, Y1      \
	VPXOR       Y5, Y2, Y2      \
	VPSLLW      $15, Y3, Y3     \
	VPSRAW      $15, Y3, Y3     \
	VPAND       cells, Y3, Y3   \
	VPSUBW      Y3, Y9, Y9      \
	VPSUBUSW    OWN, Y0, Y4     \
	VPCMPEQW    Y12, Y4, Y4     \
	VPANDN      Y3, Y4, Y4      \
	VPSUBW      Y4, Y10, Y10    \
	VPADDUSW    Y1, Y1, Y5      \
	VPADDUSW    Y5, Y5, Y5      \
	VPSUBUSW    Y5, Y0, Y5      \
	VPCMPEQW    Y12, Y5, Y5     \
	VPANDN      Y5, Y2, Y5      \
	VPANDN      Y4, Y5, Y5      \
	VPSUBW      Y5, Y11, Y11    \
	VPSRLW      $2, Y0, Y4      \
	VPAVGW      Y12, Y0, Y5     \
	VPAVGW      Y12, Y5, Y5     \
	VPSUBW      Y5, Y0, Y5      \
	VPBLENDVB   Y8, Y5, Y4, Y5  \
	VPADDUSW    Y0, Y4, Y4      \
	VPADDUSW    Y0, Y0, Y0      \
	VPADDUSW    Y0, Y0, Y0      \
	VPBLENDVB   Y8, Y0, Y4, Y4  \
	VPSUBUSW    Y4, Y1, Y4      \
	VPSUBUSW    Y1, Y5, Y0      \
	VPOR        Y0, Y4, Y4      \
	VPADDUSW    Y1, Y5, Y5      \
	VPBLENDVB   Y2, Y5, Y4, Y4  \
	VPSUBUSW    LIMIT, Y4, Y4   \
	VPCMPEQW    Y12, Y4, Y4     \
	VPANDN      Y3, Y4, Y5      \
	VPSUBW      Y5, Y13, Y13    \
	VPANDN      cells, Y4, Y4   \
	VPSUBW      Y4, Y14, Y14

// Adds counts. Y0 is lost.
#define ADDY(x, field) \
	VPADDW  field(DI), x, Y0 \
	VMOVDQU Y0, field(DI)

// func tracePairWide(v *Views, x, y, n int, s *Sums) (done int)
TEXT ·tracePairWide(SB), NOSPLIT, $224-48
	BEGIN(v+0(FP), x+8(FP), y+16(FP), n+24(FP), s+32(FP))
	MOVQ Views_Width(DX), SI
	MOVQ SI, AX
	SUBQ $const_edgeReach, AX
	SPREADA(X0, Y0)
	VMOVDQU Y0, RIGHT          // from which column on there is nothing on the right
	MOVQ SI, R13
	NEGQ R13
	LEAQ (SI)(SI*2), R12

loop:
	CMPQ CX, $0
	JLE  end
	LIMITSY
	JNZ  end
	LANESY
	MOVQ      Views_Solid(DX), AX
	VMOVQ     (AX)(BX*1), X4
	VMOVHPS   (AX)(R11*1), X4, X4
	MOVQ      Views_Flags(DX), R10
	VMOVQ     (R10)(BX*1), X5
	VMOVHPS   (R10)(R11*1), X5, X5
	ADDQ      BX, R10
	VPAND     X5, X4, X4
	VPMOVZXBW X4, Y4
	VPSLLW    $15, Y4, Y4
	VPSRAW    $15, Y4, Y4
	VPAND     Y4, Y11, Y11
	VPTEST    Y11, Y11
	JEQ       next
	MOVQ      Views_Now(DX), R8
	LEAQ      (R8)(BX*2), R8
	MOVQ      Views_Background(DX), R9
	LEAQ      (R9)(BX*2), R9
	VMOVDQU   (R8), X6
	VINSERTI128 $1, (R8)(SI*2), Y6, Y6
	VMOVDQU   (R9), X7
	VINSERTI128 $1, (R9)(SI*2), Y7, Y7
	VPSUBUSW  Y6, Y7, Y0
	VPSUBUSW  Y7, Y6, Y8
	VPOR      Y0, Y8, Y1
	VPCMPEQW  Y12, Y8, Y8
	VPCMPEQW  Y2, Y2, Y2
	VPXOR     Y2, Y8, Y8
	VPMULHUW  fifths<>(SB), Y1, Y1
	VPSRLW    $1, Y1, Y1
	VPSRLW    $2, Y10, Y2
	VPSUBW    Y2, Y10, Y9
	VPMAXUW   Y1, Y9, Y9
	VMOVDQU   Y10, OWN
	VMOVDQU   Y9, LIMIT
	VMOVDQU   Y11, ALL
	VMOVDQU   COLUMN, Y0
	VPCMPGTW  reach<>(SB), Y0, Y1
	VPAND     Y11, Y1, Y1
	VMOVDQU   Y1, LEFT
	VMOVDQU   RIGHT, Y1
	VPCMPGTW  Y0, Y1, Y1
	VPAND     Y11, Y1, Y1
	VMOVDQU   Y1, BESIDE
	VPXOR     Y9, Y9, Y9
	VPXOR     Y10, Y10, Y10
	VPXOR     Y11, Y11, Y11
	VPXOR     Y13, Y13, Y13
	VPXOR     Y14, Y14, Y14
	SIDE(LEFT, -4(R8), -4(R8)(SI*2), -4(R9), -4(R9)(SI*2), -2(R10), -2(R10)(SI*1))
	SIDE(BESIDE, 4(R8), 4(R8)(SI*2), 4(R9), 4(R9)(SI*2), 2(R10), 2(R10)(SI*1))
	SIDE(ALL, (R8)(R13*4), (R8)(R13*2), (R9)(R13*4), (R9)(R13*2), (R10)(R13*2), (R10)(R13*1))
	SIDE(ALL, (R8)(SI*4), (R8)(R12*2), (R9)(SI*4), (R9)(R12*2), (R10)(SI*2), (R10)(R12*1))

	// The sides that are not inside are ends, and the edges that are not torn are sharp.
	VMOVDQU ALL, Y1
	VPADDW  Y1, Y1, Y1
	VPADDW  LEFT, Y1, Y1
	VPADDW  BESIDE, Y1, Y1
	VPSUBW  Y1, Y12, Y1
	VPSUBW  Y9, Y1, Y1
	VPSUBW  Y13, Y14, Y14
	ADDY(Y9, Sums_Inner)
	ADDY(Y1, Sums_Ends)
	ADDY(Y10, Sums_Own)
	ADDY(Y11, Sums_Lost)
	ADDY(Y13, Sums_Torn)
	ADDY(Y14, Sums_Sharp)

next:
	NEXT
	JMP loop

end:
	VZEROUPPER
	MOVQ  n+24(FP), AX
	XORL  BX, BX
	TESTQ CX, CX
	CMOVQLT BX, CX
	SUBQ  CX, AX
	MOVQ  AX, done+40(FP)
	RET
