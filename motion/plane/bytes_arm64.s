//go:build arm64 && !purego

#include "go_asm.h"
#include "textflag.h"
#include "neon_arm64.h"

// Sixteen cells of a byte in a vector.

// func wearWide(memory, flags, passing []byte, up, down uint8) (done int)
TEXT ·wearWide(SB), NOSPLIT, $0-88
	MOVD  memory_base+0(FP), R0
	MOVD  memory_len+8(FP), R9
	MOVD  flags_base+24(FP), R1
	MOVD  passing_base+48(FP), R2
	MOVBU up+72(FP), R10
	VDUP  R10, V6.B16
	MOVBU down+73(FP), R10
	VDUP  R10, V5.B16
	MOVD  $2, R10              // Moved
	VDUP  R10, V7.B16
	AND   $~15, R9
	MOVD  R9, done+80(FP)
	CBZ   R9, end

loop:
	VLD1   (R0), [V0.B16]
	VLD1.P 16(R1), [V1.B16]
	VLD1.P 16(R2), [V2.B16]
	CMTSTB(3, 1, 7)            // -1 where it moved
	CMTSTB(2, 2, 2)            // -1 where something passes
	BIC(4, 6, 2)
	VAND   V3.B16, V4.B16, V4.B16
	BIC(3, 5, 3)
	UQADDB(0, 0, 4)
	UQSUBB(0, 0, 3)
	VST1.P [V0.B16], 16(R0)
	SUBS   $16, R9
	BNE    loop

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
