//go:build arm64 && !purego

#include "go_asm.h"
#include "textflag.h"
#include "neon_arm64.h"
#include "light_arm64.h"

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
