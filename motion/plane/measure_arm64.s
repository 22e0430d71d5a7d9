//go:build arm64 && !purego

#include "go_asm.h"
#include "textflag.h"
#include "neon_arm64.h"

// Eight cells of 16 bits in a vector. The cells of a thing are summed up in the parts of Sums, at R3; what is beyond the last cell is masked. Registers of
// macros are given by their numbers.

DATA lanes<>+0(SB)/8, $0x0003000200010000
DATA lanes<>+8(SB)/8, $0x0007000600050004
GLOBL lanes<>(SB), RODATA|NOPTR, $16

// Counts the cells of a mask. V16 is lost.
#define COUNT(mask, field) \
	FMOVQ field(R3), F16 \
	SUBH(16, 16, mask)   \
	FMOVQ F16, field(R3)

// Adds values of 16 bits. V16 is lost.
#define WEIGH(x, field) \
	FMOVQ field(R3), F16 \
	UADALPH(16, x)       \
	FMOVQ F16, field(R3)

// Adds the places of the cells of a mask. V15, V16 are lost.
#define PLACE(mask, place, field) \
	AND16(15, mask, place) \
	WEIGH(15, field)

// Takes the columns, in V24, of the cells of a mask, which has one at least. V15, V16 are lost.
#define COLUMNS(mask, left, right) \
	NOT16(15, mask)         \
	VUSHR $1, V15.H8, V15.H8 \
	ORR16(15, 15, 24)       \
	FMOVQ left(R3), F16     \
	SMIN(16, 16, 15)        \
	FMOVQ F16, left(R3)     \
	AND16(15, mask, 24)     \
	FMOVQ right(R3), F16    \
	SMAX(16, 16, 15)        \
	FMOVQ F16, right(R3)

// V0 = V0 under an exposure. V1, V2 are lost.
#define EXPOSED(gain, offset) \
	UMULL(1, 0, gain)        \
	UMULL2(2, 0, gain)       \
	VUSHR $12, V1.S4, V1.S4  \
	VUSHR $12, V2.S4, V2.S4  \
	ADDS(1, 1, offset)       \
	ADDS(2, 2, offset)       \
	SQXTUN(0, 1)             \
	SQXTUN2(0, 2)

// r = the address of the cells R4 of a slice of 16 bits, or of bytes.
#define HALVES(field, r) \
	MOVD field(R0), r  \
	ADD  R4<<1, r, r

#define BYTES(field, r) \
	MOVD field(R0), r \
	ADD  R4, r, r

// R7 is not 0 if any cell of v is not.
#define ANY(v) \
	VMOV v.D[0], R6 \
	VMOV v.D[1], R7 \
	ORR  R6, R7, R7

// Sets up the registers: R0 the views, R3 the sums, R4 the first cell, R5 how many.
#define BEGIN(v, x, y, n, s) \
	MOVD v, R0                  \
	MOVD x, R1                  \
	MOVD y, R2                  \
	MOVD s, R3                  \
	MOVD n, R5                  \
	MOVD Views_Width(R0), R11   \
	MUL  R11, R2, R4            \
	ADD  R1, R4                 \
	MOVD $lanes<>(SB), R6       \
	VLD1 (R6), [V19.H8]         \
	MOVD $8, R6                 \
	VDUP R6, V20.H8             \
	MOVD $384, R6               \
	VDUP R6, V21.H8             \
	MOVD $16287, R6             \
	VDUP R6, V23.H8             \
	VDUP R1, V24.H8             \
	ADDH(24, 24, 19)            \
	MOVW Views_Contrast(R0), R6 \
	VDUP R6, V27.H8             \
	MOVD $1, R6                 \
	VDUP R6, V17.H8

// V10 = the thresholds of the cells; R7 is not 0 if one of them is beyond 16 bits. V6 = a mask of those that are among the R5 that are left.
#define LIMITS \
	HALVES(Views_Noise, R7)  \
	VLD1 (R7), [V10.H8]      \
	CMHI(1, 10, 23)          \
	ANY(V1)                  \
	VSHL $2, V10.H8, V10.H8  \
	ADDH(10, 10, 21)         \
	UMAX(10, 10, 27)         \
	VDUP R5, V6.H8           \
	CMGT(6, 6, 19)

#define NEXT \
	ADDH(24, 24, 20) \
	ADD  $8, R4      \
	SUB  $8, R5

// func measureWide(v *Views, x, y, n int, s *Sums) (done int, solid, moved bool)
TEXT ·measureWide(SB), NOSPLIT, $0-50
	BEGIN(v+0(FP), x+8(FP), y+16(FP), n+24(FP), s+32(FP))
	VDUP R2, V25.H8
	MOVW Views_Light+Exposure_Gain(R0), R6
	VDUP R6, V30.H8
	MOVW Views_Light+Exposure_Offset(R0), R6
	VDUP R6, V31.S4
	MOVW Views_BlinkLight+Exposure_Gain(R0), R6
	VDUP R6, V29.H8
	MOVW Views_BlinkLight+Exposure_Offset(R0), R6
	VDUP R6, V28.S4
	MOVHU Views_Young(R0), R6
	VDUP R6, V26.H8
	MOVD $const_ParkedFor, R6
	VDUP R6, V22.H8
	MOVD $2, R6
	VDUP R6, V18.H8
	MOVD $0, R12
	MOVD $0, R13

loop:
	CMP $0, R5
	BLE end
	LIMITS
	CBNZ R7, end

	// V11 becomes what is solid, V5 what is parked.
	BYTES(Views_Solid, R7)
	VLD1  (R7), [V11.B8]
	VUXTL V11.B8, V11.H8
	CMTST(11, 11, 11)
	AND16(11, 11, 6)
	BYTES(Views_Parked, R7)
	VLD1  (R7), [V12.B8]
	VUXTL V12.B8, V12.H8
	CMTST(5, 12, 12)
	ORR16(13, 11, 5)
	AND16(13, 13, 6)
	COUNT(13, Sums_Cells)
	CMHI(12, 12, 22)
	AND16(12, 12, 6)
	BIC(12, 12, 11)
	COUNT(12, Sums_Gone)
	ANY(V11)
	CBZ   R7, next
	ORR   R7, R12
	COLUMNS(11, Sums_Left, Sums_Right)

	// V3 is the picture, V8 and V9 what differs from the background and moved, V7 by how much.
	HALVES(Views_Now, R7)
	VLD1  (R7), [V3.H8]
	BYTES(Views_Flags, R7)
	VLD1  (R7), [V8.B8]
	VUXTL V8.B8, V8.H8
	CMTST(9, 8, 18)
	CMTST(8, 8, 17)
	AND16(8, 8, 11)
	AND16(9, 9, 11)
	HALVES(Views_Background, R7)
	VLD1  (R7), [V7.H8]
	UQSUB(12, 3, 7)
	UABD(7, 7, 3)
	AND16(7, 7, 8)
	AND16(12, 12, 8)
	WEIGH(12, Sums_Brighter)
	WEIGH(7, Sums_ForeWeight)
	AND16(12, 8, 10)
	WEIGH(12, Sums_ForeLimit)
	COUNT(8, Sums_Fore)
	PLACE(8, 24, Sums_ForeX)
	PLACE(8, 25, Sums_ForeY)
	HALVES(Views_Stay, R7)
	VLD1  (R7), [V12.H8]
	CMHI(12, 26, 12)
	AND16(12, 12, 8)
	BIC(12, 12, 5)
	COUNT(12, Sums_Creep)
	ORR16(12, 12, 9)
	COUNT(12, Sums_Stirs)
	ANY(V9)
	CBZ   R7, blink
	ORR   R7, R13
	COLUMNS(9, Sums_MovedLeft, Sums_MovedRight)
	COUNT(9, Sums_Moved)
	PLACE(9, 24, Sums_MovedX)
	PLACE(9, 25, Sums_MovedY)
	HALVES(Views_Before, R7)
	VLD1  (R7), [V0.H8]
	EXPOSED(30, 31)
	UABD(12, 0, 3)
	AND16(12, 12, 9)
	UMAX(7, 7, 12)
	WEIGH(12, Sums_MovedWeight)
	UMULL(13, 12, 12)
	UMULL2(14, 12, 12)
	VUZP1 V14.H8, V13.H8, V12.H8
	VUZP2 V14.H8, V13.H8, V15.H8
	WEIGH(12, Sums_SquareLow)
	WEIGH(15, Sums_SquareHigh)
	BYTES(Views_Worn, R7)
	VLD1  (R7), [V12.B8]
	VUXTL V12.B8, V12.H8
	AND16(12, 12, 9)
	WEIGH(12, Sums_Worn)
	AND16(12, 9, 10)
	WEIGH(12, Sums_Limit)

blink:
	HALVES(Views_Blink, R7)
	VLD1 (R7), [V0.H8]
	EXPOSED(29, 28)
	UABD(12, 0, 3)
	CMHI(13, 12, 10)
	AND16(13, 13, 11)
	COUNT(13, Sums_Now)
	AND16(12, 12, 13)
	WEIGH(12, Sums_NowWeight)
	WEIGH(7, Sums_Weight)

next:
	NEXT
	B loop

end:
	MOVD n+24(FP), R6
	CMP  $0, R5
	CSEL LT, ZR, R5, R5
	SUB  R5, R6
	MOVD R6, done+40(FP)
	CMP  $0, R12
	CSET NE, R6
	MOVB R6, solid+48(FP)
	CMP  $0, R13
	CSET NE, R6
	MOVB R6, moved+49(FP)
	RET

// One side of the cells in V5: at R8, R9 and R10 are the picture, the background and the flags there. V7 is the cells' background, V6 the cells, V10 their thresholds, V9
// what an edge must be beyond light, V8 where the cells are brighter than the background. V0 becomes the background's edge, V1 the picture's, V2 where they
// go opposite ways, V3 what is inside, V13 the least that light makes of the edge (a fourth or three fourths), V15 the most, and then what is steeper, less steep
// or the other way. V0 to V5 and V12 to V16 are lost.
#define SIDE \
	VLD1  (R8), [V1.H8]    \
	VLD1  (R9), [V0.H8]    \
	VLD1  (R10), [V3.B8]   \
	VUXTL V3.B8, V3.H8     \
	CMHI(2, 0, 7)          \
	UABD(0, 0, 7)          \
	CMHI(4, 1, 6)          \
	UABD(1, 1, 6)          \
	EOR16(2, 2, 4)         \
	CMTST(3, 3, 17)        \
	AND16(3, 3, 5)         \
	BIC(5, 5, 3)           \
	COUNT(3, Sums_Inner)   \
	COUNT(5, Sums_Ends)    \
	CMHI(4, 0, 10)         \
	AND16(4, 4, 3)         \
	COUNT(4, Sums_Own)     \
	UQADD(12, 1, 1)        \
	UQADD(12, 12, 12)      \
	CMHI(12, 0, 12)        \
	ORR16(12, 12, 2)       \
	AND16(12, 12, 4)       \
	COUNT(12, Sums_Lost)   \
	VUSHR $2, V0.H8, V12.H8 \
	CMTST(13, 0, 18)       \
	SUBH(14, 0, 12)        \
	ADDH(14, 14, 13)       \
	ORR16(13, 8, 8)        \
	BSL(13, 14, 12)        \
	UQADD(12, 0, 12)       \
	UQADD(14, 0, 0)        \
	UQADD(14, 14, 14)      \
	ORR16(15, 8, 8)        \
	BSL(15, 14, 12)        \
	UQADD(15, 15, 9)       \
	CMHI(15, 1, 15)        \
	BIC(15, 15, 2)         \
	UQSUB(14, 13, 9)       \
	CMHI(14, 14, 1)        \
	BIC(14, 14, 2)         \
	ORR16(15, 15, 14)      \
	UQADD(13, 13, 1)       \
	CMHI(13, 13, 9)        \
	AND16(13, 13, 2)       \
	ORR16(15, 15, 13)      \
	AND16(14, 15, 3)       \
	COUNT(14, Sums_Torn)   \
	AND16(15, 15, 5)       \
	COUNT(15, Sums_Sharp)

// R8, R9 and R10 = the addresses of the cells with number R4 and R6 more.
#define BESIDE \
	MOVD Views_Now(R0), R8        \
	MOVD Views_Background(R0), R9 \
	MOVD Views_Flags(R0), R10     \
	ADD  R4, R6, R6               \
	ADD  R6<<1, R8, R8            \
	ADD  R6<<1, R9, R9            \
	ADD  R6, R10, R10

// func traceWide(v *Views, x, y, n int, s *Sums) (done int)
TEXT ·traceWide(SB), NOSPLIT, $0-48
	BEGIN(v+0(FP), x+8(FP), y+16(FP), n+24(FP), s+32(FP))
	MOVD $52429, R6            // two fifths
	VDUP R6, V26.H8
	MOVD $(const_edgeReach-1), R6
	VDUP R6, V25.H8
	SUB  $const_edgeReach, R11, R6
	VDUP R6, V22.H8            // from which column on there is nothing on the right
	MOVD $3, R6
	VDUP R6, V18.H8

loop:
	CMP $0, R5
	BLE end
	LIMITS
	CBNZ R7, end
	BYTES(Views_Solid, R7)
	VLD1  (R7), [V11.B8]
	BYTES(Views_Flags, R7)
	VLD1  (R7), [V12.B8]
	VAND  V12.B8, V11.B8, V11.B8
	VUXTL V11.B8, V11.H8
	CMTST(11, 11, 17)
	AND16(11, 11, 6)
	ANY(V11)
	CBZ   R7, next
	HALVES(Views_Now, R7)
	VLD1  (R7), [V6.H8]
	HALVES(Views_Background, R7)
	VLD1  (R7), [V7.H8]
	CMHI(8, 6, 7)
	UABD(1, 7, 6)
	UMULL(12, 1, 26)
	UMULL2(13, 1, 26)
	VUZP2 V13.H8, V12.H8, V1.H8
	VUSHR $1, V1.H8, V1.H8
	VUSHR $2, V10.H8, V12.H8
	SUBH(9, 10, 12)
	UMAX(9, 9, 1)
	CMGT(5, 24, 25)
	AND16(5, 5, 11)
	MOVD  $-const_edgeReach, R6
	BESIDE
	SIDE
	CMGT(5, 22, 24)
	AND16(5, 5, 11)
	MOVD  $const_edgeReach, R6
	BESIDE
	SIDE
	CMP   $const_edgeReach, R2
	BLT   low
	ORR16(5, 11, 11)
	MOVD  $-const_edgeReach, R6
	MUL   R11, R6
	BESIDE
	SIDE

low:
	ADD  $const_edgeReach, R2, R6
	MOVD Views_Height(R0), R7
	CMP  R7, R6
	BGE  next
	ORR16(5, 11, 11)
	MOVD $const_edgeReach, R6
	MUL  R11, R6
	BESIDE
	SIDE

next:
	NEXT
	B loop

end:
	MOVD n+24(FP), R6
	CMP  $0, R5
	CSEL LT, ZR, R5, R5
	SUB  R5, R6
	MOVD R6, done+40(FP)
	RET

// Sixteen bits of a mask of bytes, V0 or V1 by its number and name, into r. V6 holds the bits' weights; R8 is lost.
#define BITS(d, v, r) \
	AND16(d, d, 6)  \
	EIGHTS(d)       \
	VMOV v.D[0], r  \
	VMOV v.D[1], R8 \
	ORR  R8<<8, r, r

// func tilesWide(solid, parked []byte, width, rows int, set, stands []uint64) (done int)
TEXT ·tilesWide(SB), NOSPLIT, $0-120
	MOVD solid_base+0(FP), R0
	MOVD parked_base+24(FP), R1
	MOVD width+48(FP), R4
	MOVD rows+56(FP), R5
	MOVD set_base+64(FP), R2
	MOVD stands_base+88(FP), R3
	MOVD R5, done+112(FP)
	ADD  $31, R4, R13
	AND  $~31, R13             // cells of a row, and those that fill the last vectors
	ADD  $127, R4, R14
	LSR  $7, R14, R14
	LSL  $3, R14, R14          // bytes of the bits of a row
	MOVD $0x8040201008040201, R10
	VDUP R10, V6.D2
	CBZ  R5, end

row:
	MOVD R0, R15
	ADD  R4, R0, R22
	MOVD R1, R23
	ADD  R4, R1, R19
	MOVD R2, R20
	MOVD R3, R21
	MOVD R13, R9

loop:
	VLD1.P 32(R15), [V0.B16, V1.B16]
	VLD1.P 32(R22), [V2.B16, V3.B16]
	ORR16(0, 0, 2)
	ORR16(2, 1, 3)
	VLD1.P 32(R23), [V4.B16, V5.B16]
	VLD1.P 32(R19), [V7.B16, V8.B16]
	ORR16(1, 4, 7)
	ORR16(3, 5, 8)
	ORR16(0, 0, 1)
	ORR16(2, 2, 3)
	CMTST(0, 0, 0)
	CMTST(1, 1, 1)
	CMTST(2, 2, 2)
	CMTST(3, 3, 3)
	XTNB(0, 0)
	XTNB2(0, 2)
	XTNB(1, 1)
	XTNB2(1, 3)
	BITS(0, V0, R6)
	BITS(1, V1, R7)
	MOVH.P R6, 2(R20)
	MOVH.P R7, 2(R21)
	SUBS   $32, R9
	BNE    loop
	ADD    R4<<1, R0, R0
	ADD    R4<<1, R1, R1
	ADD    R14, R2
	ADD    R14, R3
	SUBS   $1, R5
	BNE    row

end:
	RET

// func stirsWide(flags, solid, parked []byte, stay []uint16, young uint16, bits []uint64) (done int)
TEXT ·stirsWide(SB), NOSPLIT, $0-136
	MOVD  flags_base+0(FP), R0
	MOVD  flags_len+8(FP), R9
	MOVD  solid_base+24(FP), R1
	MOVD  parked_base+48(FP), R2
	MOVD  stay_base+72(FP), R3
	MOVHU young+96(FP), R10
	VDUP  R10, V5.H8
	MOVD  bits_base+104(FP), R4
	AND   $~15, R9
	MOVD  R9, done+128(FP)
	MOVD  $0x8040201008040201, R10
	VDUP  R10, V6.D2
	MOVD  $1, R10
	VDUP  R10, V7.B16
	MOVD  $2, R10
	VDUP  R10, V8.B16
	CBZ   R9, end

loop:
	VLD1.P 32(R3), [V0.H8, V1.H8]
	CMHI(0, 5, 0)
	CMHI(1, 5, 1)
	XTNB(0, 0)
	XTNB2(0, 1)
	VLD1.P 16(R2), [V1.B16]
	CMTSTB(1, 1, 1)
	BIC(0, 0, 1)
	VLD1.P 16(R0), [V1.B16]
	CMTSTB(2, 1, 7)
	CMTSTB(1, 1, 8)
	AND16(0, 0, 2)
	ORR16(0, 0, 1)
	VLD1.P 16(R1), [V1.B16]
	CMTSTB(1, 1, 1)
	AND16(0, 0, 1)
	BITS(0, V0, R6)
	MOVH.P R6, 2(R4)
	SUBS   $16, R9
	BNE    loop

end:
	RET
