//go:build arm64 && !purego

#include "go_asm.h"
#include "textflag.h"
#include "neon_arm64.h"

// Eight cells of 16 bits in a vector.

// The constants that APPLY needs: V30 is the gain eight times, V31 the offset four times.
#define LIGHT(gain, offset) \
	MOVW gain, R10     \
	VDUP R10, V30.H8   \
	MOVW offset, R10   \
	VDUP R10, V31.S4

// V0 = V0 under the exposure. V1, V2 are lost.
#define APPLY \
	UMULL(1, 0, 30)             \
	UMULL2(2, 0, 30)            \
	VUSHR $12, V1.S4, V1.S4     \
	VUSHR $12, V2.S4, V2.S4     \
	VADD  V31.S4, V1.S4, V1.S4  \
	VADD  V31.S4, V2.S4, V2.S4  \
	SQXTUN(0, 1)                \
	SQXTUN2(0, 2)

// func exposeWide(cells []uint16, gain, offset int32) (done int)
TEXT ·exposeWide(SB), NOSPLIT, $0-40
	LIGHT(gain+24(FP), offset+28(FP))
	MOVD cells_base+0(FP), R0
	MOVD cells_len+8(FP), R9
	AND  $~7, R9
	MOVD R9, done+32(FP)
	CBZ  R9, end

loop:
	VLD1   (R0), [V0.H8]
	APPLY
	VST1.P [V0.H8], 16(R0)
	SUBS   $8, R9
	BNE    loop

end:
	RET

// func classifyWide(now, before []uint16, gain, offset int32, background, noise []uint16, contrast int32, flags []byte) (done int)
TEXT ·classifyWide(SB), NOSPLIT, $0-144
	LIGHT(gain+48(FP), offset+52(FP))
	MOVW contrast+104(FP), R10
	VDUP R10, V29.H8
	MOVD $384, R10
	VDUP R10, V28.H8
	MOVD $2, R10
	VDUP R10, V27.H8
	MOVD $1, R10
	VDUP R10, V26.H8
	MOVD now_base+0(FP), R0
	MOVD now_len+8(FP), R9
	MOVD before_base+24(FP), R1
	MOVD background_base+56(FP), R2
	MOVD noise_base+80(FP), R3
	MOVD flags_base+112(FP), R4
	AND  $~7, R9
	MOVD R9, done+136(FP)
	CBZ  R9, end

loop:
	VLD1.P 16(R1), [V0.H8]
	APPLY
	VLD1.P 16(R0), [V3.H8]
	VLD1.P 16(R3), [V4.H8]
	VLD1.P 16(R2), [V5.H8]
	UQADD(4, 4, 4)
	UQADD(4, 4, 4)
	UQADD(4, 4, 28)
	UMAX(4, 4, 29)
	UABD(0, 0, 3)
	UABD(5, 5, 3)
	CMHI(0, 0, 4)
	CMHI(5, 5, 4)
	VAND   V27.B16, V0.B16, V0.B16
	VAND   V26.B16, V5.B16, V5.B16
	VORR   V5.B16, V0.B16, V0.B16
	XTNB(0, 0)
	VST1.P [V0.B8], 8(R4)
	SUBS   $8, R9
	BNE    loop

end:
	RET

// V6 = V1 * rate / 65536 rounded down, minus V2 * rate2 / 65536 rounded up. V16 to V19 are lost; V21 is 65535 four times.
#define STEP(rate, rate2) \
	UMULL(16, 1, rate)              \
	UMULL2(17, 1, rate)             \
	UMULL(18, 2, rate2)             \
	UMULL2(19, 2, rate2)            \
	VADD  V21.S4, V18.S4, V18.S4    \
	VADD  V21.S4, V19.S4, V19.S4    \
	VUZP2 V17.H8, V16.H8, V6.H8     \
	VUZP2 V19.H8, V18.H8, V7.H8     \
	VSUB  V7.H8, V6.H8, V6.H8

// func learnWide(now, before []uint16, gain, offset int32, flags, solid, held []byte, m *Memory, p *Pace) (done int)
TEXT ·learnWide(SB), NOSPLIT, $0-152
	LIGHT(gain+48(FP), offset+52(FP))
	MOVD  p+136(FP), R11
	MOVW  Pace_Up(R11), R10
	VDUP  R10, V29.H8
	VUSHR $4, V29.H8, V28.H8
	MOVW  Pace_Down(R11), R10
	VDUP  R10, V27.H8
	MOVW  Pace_Background(R11), R10
	VDUP  R10, V26.H8
	MOVW  Pace_TwigCap(R11), R10
	VDUP  R10, V25.H8
	MOVW  Pace_NoiseCap(R11), R10
	VDUP  R10, V24.H8
	MOVD  $1, R10
	VDUP  R10, V23.H8
	MOVD  $65535, R10
	VDUP  R10, V21.S4
	MOVD  m+128(FP), R11
	MOVD  Memory_Background(R11), R2
	MOVD  Memory_Noise(R11), R3
	MOVD  Memory_Stay(R11), R4
	MOVD  Memory_Still(R11), R5
	MOVD  Memory_Parked(R11), R13
	MOVD  now_base+0(FP), R0
	MOVD  now_len+8(FP), R9
	MOVD  before_base+24(FP), R1
	MOVD  flags_base+56(FP), R6
	MOVD  solid_base+80(FP), R7
	MOVD  held_base+104(FP), R8
	AND   $~7, R9
	MOVD  R9, done+144(FP)
	CBZ   R9, end

loop:
	// V1 is how much the difference from before lies above the noise V4, V2 how much below.
	VLD1.P 16(R1), [V0.H8]
	APPLY
	VLD1.P 16(R0), [V3.H8]
	VLD1   (R3), [V4.H8]
	UABD(0, 0, 3)
	UQSUB(1, 0, 4)
	UQSUB(2, 4, 0)

	// Where held, the noise goes no higher than the cap.
	VLD1.P 8(R8), [V5.B8]
	VUXTL  V5.B8, V5.H8
	VMOV   V5.B16, V22.B16
	CMTST(7, 5, 5)
	UQSUB(6, 24, 4)
	UMIN(6, 6, 1)
	VBIT   V7.B16, V6.B16, V1.B16

	// V5 becomes the rate upwards: a sixteenth where held is HeldMoves.
	VCMEQ V23.H8, V5.H8, V7.H8
	VMOV  V29.B16, V5.B16
	VBIT  V7.B16, V28.B16, V5.B16
	STEP(5, 27)
	VADD   V6.H8, V4.H8, V4.H8
	UMIN(4, 4, 25)
	VST1.P [V4.H8], 16(R3)

	// The background takes its step where nothing stands (V5); stay and still are kept elsewhere only.
	VLD1   (R2), [V4.H8]
	UQSUB(1, 3, 4)
	UQSUB(2, 4, 3)
	STEP(26, 26)
	VLD1.P 8(R6), [V5.B8]
	VLD1.P 8(R7), [V0.B8]
	VUXTL  V5.B8, V20.H8
	VAND   V0.B8, V5.B8, V5.B8
	VUXTL  V5.B8, V5.H8
	CMTST(5, 5, 5)
	BIC(6, 6, 5)
	VADD   V6.H8, V4.H8, V4.H8
	VMOV   V5.D[0], R10
	VMOV   V5.D[1], R12
	ORR    R12, R10
	CBNZ   R10, stand
	VST1.P [V4.H8], 16(R2)
	VST1.P [V5.H8], 16(R4)
	VST1.P [V5.H8], 16(R5)
	ADD    $8, R13
	SUBS   $8, R9
	BNE    loop

end:
	RET

stand:
	// V0 becomes how long something stands where V5 is set, V1 how long it has been still, V17 where it moved.
	MOVD   p+136(FP), R11
	MOVHU  Pace_Ms(R11), R10
	VDUP   R10, V18.H8
	MOVD   $const_MaxStay, R10
	VDUP   R10, V19.H8
	MOVD   $const_Moved, R10
	VDUP   R10, V16.H8
	CMTST(17, 20, 16)
	VLD1   (R4), [V0.H8]
	VLD1   (R5), [V1.H8]
	VADD   V18.H8, V0.H8, V0.H8
	VADD   V18.H8, V1.H8, V1.H8
	UMIN(0, 0, 19)
	UMIN(1, 1, 19)
	VAND   V5.B16, V0.B16, V0.B16
	VAND   V5.B16, V1.B16, V1.B16
	BIC(1, 1, 17)
	VST1.P [V0.H8], 16(R4)
	VST1.P [V1.H8], 16(R5)

	// V2 becomes what is parked: where it moved and is held for no longer than the place of what left, and where it has stood for long for at least that.
	VLD1  (R13), [V2.B8]
	VUXTL V2.B8, V2.H8
	MOVD  $const_ParkedFor, R10
	VDUP  R10, V16.H8
	CMTST(6, 22, 22)
	VAND  V6.B16, V17.B16, V17.B16
	VAND  V5.B16, V17.B16, V17.B16
	UMIN(6, 2, 16)
	VBIT  V17.B16, V6.B16, V2.B16
	MOVD  $const_ParkedAfter, R10
	VDUP  R10, V18.H8
	CMHS(6, 0, 18)
	VAND  V16.B16, V6.B16, V6.B16
	UMAX(2, 2, 6)

	// Where it has been still for long enough (V6) it becomes background.
	MOVHU  Pace_Absorb(R11), R10
	VDUP   R10, V18.H8
	CMHS(6, 1, 18)
	VAND   V5.B16, V6.B16, V6.B16
	VBIT   V6.B16, V3.B16, V4.B16
	MOVD   $const_AbsorbedFor, R10
	VDUP   R10, V18.H8
	VBIT   V6.B16, V18.B16, V2.B16
	XTNB(2, 2)
	VST1.P [V2.B8], 8(R13)
	VST1.P [V4.H8], 16(R2)
	SUBS   $8, R9
	BNE    loop
	RET

// Adds the four unsigned lanes of register x, by number, to the 64-bit field of (R11). V0, R12 to R14 are lost.
#define TOTAL(x, field) \
	UADDLPS(0, x)         \
	VMOV V0.D[0], R12     \
	VMOV V0.D[1], R13     \
	MOVD field(R11), R14  \
	ADD  R12, R14         \
	ADD  R13, R14         \
	MOVD R14, field(R11)

// func sumWide(x, y []uint16, gain, offset, limit int32, m *Moments)
TEXT ·sumWide(SB), NOSPLIT, $0-72
	LIGHT(gain+48(FP), offset+52(FP))
	MOVW limit+56(FP), R10
	VDUP R10, V29.H8
	MOVD $256, R10
	VDUP R10, V28.H8
	MOVD $65024, R10
	VDUP R10, V27.H8
	MOVD x_base+0(FP), R0
	MOVD x_len+8(FP), R9
	MOVD y_base+24(FP), R1
	MOVD m+64(FP), R11
	VEOR V20.B16, V20.B16, V20.B16 // rest
	VEOR V21.B16, V21.B16, V21.B16 // points, as halves
	VEOR V22.B16, V22.B16, V22.B16 // x
	VEOR V23.B16, V23.B16, V23.B16 // y
	VEOR V24.B16, V24.B16, V24.B16 // x*x: 128 times two products of 12 bits by 12 bits stay below 1<<32
	VEOR V25.B16, V25.B16, V25.B16 // x*y
	CBZ  R9, end

loop:
	VLD1.P 16(R0), [V0.H8]
	VLD1.P 16(R1), [V3.H8]
	VUSHR  $4, V0.H8, V4.H8
	VUSHR  $4, V3.H8, V5.H8
	APPLY
	UABD(0, 0, 3)
	CMHS(1, 29, 0)
	CMHS(2, 3, 28)
	VAND   V2.B16, V1.B16, V1.B16
	CMHS(2, 27, 3)
	VAND   V2.B16, V1.B16, V1.B16 // -1 where the point counts
	VSUB   V1.H8, V21.H8, V21.H8
	VAND   V1.B16, V0.B16, V0.B16
	VAND   V1.B16, V4.B16, V4.B16
	VAND   V1.B16, V5.B16, V5.B16
	UADALPH(20, 0)
	UADALPH(22, 4)
	UADALPH(23, 5)
	UMLAL(24, 4, 4)
	UMLAL2(24, 4, 4)
	UMLAL(25, 4, 5)
	UMLAL2(25, 4, 5)
	SUBS   $8, R9
	BNE    loop

end:
	UADDLPH(21, 21)
	TOTAL(21, Moments_N)
	TOTAL(22, Moments_X)
	TOTAL(23, Moments_Y)
	TOTAL(24, Moments_XX)
	TOTAL(25, Moments_XY)
	TOTAL(20, Moments_Rest)
	RET

// func likeWide(x, y []uint16, pitch, rows int, l *Likeness)
TEXT ·likeWide(SB), NOSPLIT, $0-72
	MOVD x_base+0(FP), R0
	MOVD y_base+24(FP), R1
	MOVD pitch+48(FP), R2
	MOVD rows+56(FP), R9
	MOVD l+64(FP), R11
	LSL  $1, R2
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16

loop:
	VLD1  (R0), [V4.H8]
	VLD1  (R1), [V5.H8]
	ADD   R2, R0
	ADD   R2, R1
	VUSHR $4, V4.H8, V4.H8
	VUSHR $4, V5.H8, V5.H8
	UADALPH(21, 4)
	UADALPH(22, 5)
	UMLAL(23, 4, 4)
	UMLAL2(23, 4, 4)
	UMLAL(24, 5, 5)
	UMLAL2(24, 5, 5)
	UMLAL(25, 4, 5)
	UMLAL2(25, 4, 5)
	SUBS  $1, R9
	BNE   loop
	TOTAL(21, Likeness_X)
	TOTAL(22, Likeness_Y)
	TOTAL(23, Likeness_XX)
	TOTAL(24, Likeness_YY)
	TOTAL(25, Likeness_XY)
	RET

// func widenWide(row []byte, out []uint16) (done int)
TEXT ·widenWide(SB), NOSPLIT, $0-56
	MOVD row_base+0(FP), R0
	MOVD out_base+24(FP), R1
	MOVD out_len+32(FP), R9
	AND  $~7, R9
	MOVD R9, done+48(FP)
	CBZ  R9, end

loop:
	VLD1.P 8(R0), [V0.B8]
	VUXTL  V0.B8, V0.H8
	VSHL   $8, V0.H8, V0.H8
	VST1.P [V0.H8], 16(R1)
	SUBS   $8, R9
	BNE    loop

end:
	RET

// func meansTwoWide(top, low []byte, out []uint16) (done int)
TEXT ·meansTwoWide(SB), NOSPLIT, $0-80
	MOVD top_base+0(FP), R0
	MOVD low_base+24(FP), R1
	MOVD out_base+48(FP), R2
	MOVD out_len+56(FP), R9
	AND  $~7, R9
	MOVD R9, done+72(FP)
	CBZ  R9, end

loop:
	VLD1.P 16(R0), [V0.B16]
	VLD1.P 16(R1), [V1.B16]
	UADDLPB(0, 0)
	UADALPB(0, 1)
	VSHL   $6, V0.H8, V0.H8
	VST1.P [V0.H8], 16(R2)
	SUBS   $8, R9
	BNE    loop

end:
	RET

// func meansFourWide(luma []byte, stride int, out []uint16) (done int)
TEXT ·meansFourWide(SB), NOSPLIT, $0-64
	MOVD luma_base+0(FP), R0
	MOVD stride+24(FP), R3
	MOVD out_base+32(FP), R2
	MOVD out_len+40(FP), R9
	AND  $~3, R9
	MOVD R9, done+56(FP)
	CBZ  R9, end
	ADD  R3, R0, R4
	ADD  R3, R4, R5
	ADD  R3, R5, R6

loop:
	VLD1.P 16(R0), [V0.B16]
	VLD1.P 16(R4), [V1.B16]
	VLD1.P 16(R5), [V2.B16]
	VLD1.P 16(R6), [V3.B16]
	UADDLPB(0, 0)
	UADALPB(0, 1)
	UADALPB(0, 2)
	UADALPB(0, 3)
	UADDLPH(0, 0)
	VSHL   $4, V0.S4, V0.S4
	XTNH(0, 0)
	VST1.P [V0.H4], 8(R2)
	SUBS   $4, R9
	BNE    loop

end:
	RET

// func sumColumnsWide(luma []byte, stride, rows int, sums []uint16) (done int)
TEXT ·sumColumnsWide(SB), NOSPLIT, $0-72
	MOVD luma_base+0(FP), R0
	MOVD stride+24(FP), R1
	MOVD rows+32(FP), R2
	MOVD sums_base+40(FP), R3
	MOVD sums_len+48(FP), R9
	AND  $~15, R9
	MOVD R9, done+64(FP)
	CBZ  R9, end

column:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	MOVD R0, R4
	MOVD R2, R5

row:
	VLD1    (R4), [V2.B16]
	VUADDW  V2.B8, V0.H8, V0.H8
	VUADDW2 V2.B16, V1.H8, V1.H8
	ADD     R1, R4
	SUBS    $1, R5
	BNE     row
	VST1.P  [V0.H8, V1.H8], 32(R3)
	ADD     $16, R0
	SUBS    $16, R9
	BNE     column

end:
	RET

// func onesWide(flags, mask, out []byte) (done int, any uint64)
TEXT ·onesWide(SB), NOSPLIT, $0-88
	MOVD flags_base+0(FP), R0
	MOVD flags_len+8(FP), R9
	MOVD mask_base+24(FP), R1
	MOVD out_base+48(FP), R2
	AND  $~15, R9
	MOVD R9, done+72(FP)
	MOVD $1, R10
	VDUP R10, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	CBZ  R9, end

loop:
	VLD1.P 16(R0), [V0.B16]
	VLD1.P 16(R1), [V1.B16]
	VAND   V1.B16, V0.B16, V0.B16
	VUSHR  $1, V0.B16, V1.B16
	VORR   V1.B16, V0.B16, V0.B16
	VAND   V3.B16, V0.B16, V0.B16
	VORR   V0.B16, V4.B16, V4.B16
	VST1.P [V0.B16], 16(R2)
	SUBS   $16, R9
	BNE    loop

end:
	VMOV V4.D[0], R10
	VMOV V4.D[1], R11
	ORR  R10, R11
	MOVD R11, any+80(FP)
	RET

// func despeckleWide(ones []byte, pitch int, solid []byte) (done, found int)
TEXT ·despeckleWide(SB), NOSPLIT, $0-72
	MOVD ones_base+0(FP), R0
	MOVD pitch+24(FP), R3
	MOVD solid_base+32(FP), R4
	MOVD solid_len+40(FP), R9
	ADD  R3, R0, R1            // the row itself
	ADD  R3, R1, R2            // the row below
	AND  $~15, R9
	MOVD R9, done+56(FP)
	MOVD $(const_SpeckleNeighbours-1), R10
	VDUP R10, V6.B16
	VEOR V5.B16, V5.B16, V5.B16 // found, in four sums
	CBZ  R9, end

loop:
	// V0 becomes the sum of the 3x3 cells, at most 9.
	ADD    $1, R0, R5
	ADD    $2, R0, R6
	VLD1.P 16(R0), [V0.B16]
	VLD1   (R5), [V1.B16]
	VLD1   (R6), [V2.B16]
	VADD   V1.B16, V0.B16, V0.B16
	VADD   V2.B16, V0.B16, V0.B16
	ADD    $1, R1, R5
	ADD    $2, R1, R6
	VLD1.P 16(R1), [V1.B16]
	VLD1   (R5), [V4.B16]
	VLD1   (R6), [V2.B16]
	VADD   V1.B16, V0.B16, V0.B16
	VADD   V4.B16, V0.B16, V0.B16
	VADD   V2.B16, V0.B16, V0.B16
	ADD    $1, R2, R5
	ADD    $2, R2, R6
	VLD1.P 16(R2), [V1.B16]
	VLD1   (R5), [V2.B16]
	VLD1   (R6), [V3.B16]
	VADD   V1.B16, V0.B16, V0.B16
	VADD   V2.B16, V0.B16, V0.B16
	VADD   V3.B16, V0.B16, V0.B16
	CMHIB(0, 0, 6)
	VAND   V4.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(R4)
	UADDLPB(0, 0)
	UADALPH(5, 0)
	SUBS   $16, R9
	BNE    loop

end:
	UADDLPS(5, 5)
	VMOV V5.D[0], R10
	VMOV V5.D[1], R11
	ADD  R10, R11
	MOVD R11, found+64(FP)
	RET

// func flagsWide(flags []byte, pitch, rows int, blocks []Block) (done int)
TEXT ·flagsWide(SB), NOSPLIT, $0-72
	MOVD flags_base+0(FP), R0
	MOVD pitch+24(FP), R3
	MOVD rows+32(FP), R4
	MOVD blocks_base+40(FP), R2
	MOVD blocks_len+48(FP), R9
	AND  $~1, R9
	MOVD R9, done+64(FP)
	MOVD $1, R10
	VDUP R10, V6.B16
	CBZ  R9, end

block:
	VEOR V0.B16, V0.B16, V0.B16 // with the flag Fore
	VEOR V1.B16, V1.B16, V1.B16 // with the flag Moved
	MOVD R0, R5
	MOVD R4, R6

row:
	VLD1  (R5), [V4.B16]
	VUSHR $1, V4.B16, V5.B16
	VAND  V6.B16, V4.B16, V4.B16
	VAND  V6.B16, V5.B16, V5.B16
	VADD  V4.B16, V0.B16, V0.B16
	VADD  V5.B16, V1.B16, V1.B16
	ADD   R3, R5
	SUBS  $1, R6
	BNE   row
	EIGHTS(0)
	EIGHTS(1)
	VSHL   $16, V1.D2, V1.D2
	VORR   V1.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(R2)
	ADD    $16, R0
	SUBS   $2, R9
	BNE    block

end:
	RET

// func solidWide(flags, solid []byte, pitch, rows int, blocks []Block) (done int)
TEXT ·solidWide(SB), NOSPLIT, $0-96
	MOVD flags_base+0(FP), R0
	MOVD solid_base+24(FP), R1
	MOVD pitch+48(FP), R3
	MOVD rows+56(FP), R4
	MOVD blocks_base+64(FP), R2
	MOVD blocks_len+72(FP), R9
	AND  $~1, R9
	MOVD R9, done+88(FP)
	MOVD $1, R10
	VDUP R10, V6.B16
	CBZ  R9, end

block:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16 // solid
	VEOR V3.B16, V3.B16, V3.B16 // solid with the flag Moved
	MOVD R0, R5
	MOVD R1, R7
	MOVD R4, R6

row:
	VLD1  (R5), [V4.B16]
	VLD1  (R7), [V7.B16]
	VUSHR $1, V4.B16, V5.B16
	VAND  V7.B16, V4.B16, V4.B16
	VAND  V6.B16, V5.B16, V5.B16
	VADD  V4.B16, V0.B16, V0.B16
	VADD  V5.B16, V1.B16, V1.B16
	VADD  V7.B16, V2.B16, V2.B16
	VAND  V7.B16, V5.B16, V5.B16
	VADD  V5.B16, V3.B16, V3.B16
	ADD   R3, R5
	ADD   R3, R7
	SUBS  $1, R6
	BNE   row
	EIGHTS(0)
	EIGHTS(1)
	EIGHTS(2)
	EIGHTS(3)
	VSHL   $16, V1.D2, V1.D2
	VSHL   $32, V2.D2, V2.D2
	VSHL   $48, V3.D2, V3.D2
	VORR   V1.B16, V0.B16, V0.B16
	VORR   V3.B16, V2.B16, V2.B16
	VORR   V2.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(R2)
	ADD    $16, R0
	ADD    $16, R1
	SUBS   $2, R9
	BNE    block

end:
	RET

// func smoothWide(to, a, b, c []uint16) (done int)
TEXT ·smoothWide(SB), NOSPLIT, $0-104
	MOVD to_base+0(FP), R0
	MOVD to_len+8(FP), R9
	MOVD a_base+24(FP), R1
	MOVD b_base+48(FP), R2
	MOVD c_base+72(FP), R3
	AND  $~7, R9
	MOVD R9, done+96(FP)
	CBZ  R9, end

loop:
	VLD1.P 16(R1), [V0.H8]
	VLD1.P 16(R2), [V1.H8]
	VLD1.P 16(R3), [V2.H8]
	UHADD(0, 0, 2)             // the bit that is lost changes nothing
	URHADD(0, 0, 1)
	VST1.P [V0.H8], 16(R0)
	SUBS   $8, R9
	BNE    loop

end:
	RET

// func shareWide(to, from []uint16, share uint16) (done int)
TEXT ·shareWide(SB), NOSPLIT, $0-64
	MOVD  to_base+0(FP), R0
	MOVD  to_len+8(FP), R9
	MOVD  from_base+24(FP), R1
	MOVHU share+48(FP), R10
	VDUP  R10, V7.H8
	AND   $~7, R9
	MOVD  R9, done+56(FP)
	CBZ   R9, end

loop:
	VLD1.P 16(R1), [V0.H8]
	UMULL(1, 0, 7)
	UMULL2(2, 0, 7)
	VUZP2  V2.H8, V1.H8, V0.H8
	VST1.P [V0.H8], 16(R0)
	SUBS   $8, R9
	BNE    loop

end:
	RET
