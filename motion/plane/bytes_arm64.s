//go:build arm64 && !purego

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

// func keepWide(held, solid, memory []byte, least uint8) (done int)
TEXT ·keepWide(SB), NOSPLIT, $0-88
	MOVD  held_base+0(FP), R0
	MOVD  held_len+8(FP), R9
	MOVD  solid_base+24(FP), R1
	MOVD  memory_base+48(FP), R2
	MOVBU least+72(FP), R10
	VDUP  R10, V6.B16
	AND   $~15, R9
	MOVD  R9, done+80(FP)
	CBZ   R9, end

loop:
	VLD1   (R0), [V0.B16]
	VLD1.P 16(R1), [V1.B16]
	VLD1.P 16(R2), [V2.B16]
	CMTSTB(1, 1, 1)
	CMHIB(2, 6, 2)
	VAND   V1.B16, V0.B16, V0.B16
	VAND   V2.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(R0)
	SUBS   $16, R9
	BNE    loop

end:
	RET
