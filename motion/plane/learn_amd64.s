//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"
#include "light_amd64.h"

// The scales of what stands somewhere.
DATA stands<>+0(SB)/2, $const_MaxStay
DATA stands<>+2(SB)/2, $const_ParkedFor
DATA stands<>+4(SB)/2, $const_ParkedAfter
DATA stands<>+6(SB)/2, $const_AbsorbedFor
GLOBL stands<>(SB), RODATA|NOPTR, $8

DATA moves<>+0(SB)/8, $(const_HeldMoves*0x0001000100010001)
DATA moves<>+8(SB)/8, $(const_HeldMoves*0x0001000100010001)
DATA moves<>+16(SB)/8, $(const_HeldMoves*0x0001000100010001)
DATA moves<>+24(SB)/8, $(const_HeldMoves*0x0001000100010001)
GLOBL moves<>(SB), RODATA|NOPTR, $32

// func learnWide(now, before []uint16, gain, offset int32, flags, solid, held []byte, m *Memory, p *Pace) (done int)
TEXT ·learnWide(SB), NOSPLIT, $0-152
	MOVQ m+128(FP), AX
	MOVQ Memory_Parked(AX), R14
	CMPB ·hasAVX2(SB), $1
	JEQ  avx2
	LIGHT(gain+48(FP), offset+52(FP))
	MOVQ p+136(FP), DX
	SPREADL(Pace_Up(DX), X12)
	SPREADL(Pace_Down(DX), X11)
	SPREADL(Pace_Background(DX), X10)
	SPREADL(Pace_TwigCap(DX), X9)
	SPREADL(Pace_NoiseCap(DX), X8)
	MOVQ m+128(FP), DX
	MOVQ Memory_Background(DX), R8
	MOVQ Memory_Noise(DX), R9
	MOVQ Memory_Stay(DX), R10
	MOVQ Memory_Still(DX), R11
	MOVQ now_base+0(FP), SI
	MOVQ now_len+8(FP), CX
	MOVQ before_base+24(FP), DI
	MOVQ flags_base+56(FP), R12
	MOVQ solid_base+80(FP), R13
	MOVQ held_base+104(FP), DX
	ANDQ $~7, CX
	MOVQ CX, done+144(FP)
	XORQ BX, BX

loop:
	CMPQ BX, CX
	JGE  end

	// X1 is how much the difference from before lies above the noise X4, X2 how much below.
	MOVOU   (DI)(BX*2), X0
	APPLY
	MOVOU   (SI)(BX*2), X3
	DISTANCE(X0, X3, X1)
	MOVOU   (R9)(BX*2), X4
	MOVO    X0, X1
	PSUBUSW X4, X1
	MOVO    X4, X2
	PSUBUSW X0, X2

	// Where held, the noise goes no higher than the cap.
	MOVQ      (DX)(BX*1), X5
	PXOR      X6, X6
	PUNPCKLBW X6, X5
	MOVO      X5, X7
	PCMPEQW   X6, X7
	MOVO      X8, X6
	PSUBUSW   X4, X6
	MOVO      X1, X0
	PSUBUSW   X6, X0
	PANDN     X0, X7
	PSUBW     X7, X1

	// X5 becomes the rate upwards: a sixteenth where held is HeldMoves.
	PCMPEQW X6, X6
	PSRLW   $15, X6
	PCMPEQW X6, X5
	MOVO    X12, X6
	PSRLW   $4, X6
	PXOR    X12, X6
	PAND    X6, X5
	PXOR    X12, X5

	// The noise rises by a share rounded down, and falls by one rounded up: one more unless the lower half of the product is 0.
	PMULHUW X5, X1
	MOVO    X2, X0
	PMULHUW X11, X2
	PMULLW  X11, X0
	PXOR    X7, X7
	PCMPEQW X7, X0
	PCMPEQW X6, X6
	PADDW   X1, X4
	PSUBW   X2, X4
	PSUBW   X0, X4
	PADDW   X6, X4
	MOVO    X4, X0
	PSUBUSW X9, X0
	PSUBW   X0, X4
	MOVOU   X4, (R9)(BX*2)

	// X1 becomes the step of the background, rounded in the same way.
	MOVOU   (R8)(BX*2), X4
	MOVO    X3, X1
	PSUBUSW X4, X1
	MOVO    X4, X2
	PSUBUSW X3, X2
	PMULHUW X10, X1
	MOVO    X2, X0
	PMULHUW X10, X2
	PMULLW  X10, X0
	PCMPEQW X7, X0
	PSUBW   X2, X1
	PSUBW   X0, X1
	PADDW   X6, X1

	// It is taken where nothing stands (X5); stay and still are kept elsewhere only.
	MOVQ      (R12)(BX*1), X5
	MOVQ      (R13)(BX*1), X0
	PAND      X0, X5
	PUNPCKLBW X7, X5
	PCMPEQW   X7, X5
	PAND      X5, X1
	PADDW     X1, X4
	MOVOU     X4, (R8)(BX*2)
	PMOVMSKB  X5, AX
	CMPL      AX, $0xffff
	JNE       stand
	MOVOU     X7, (R10)(BX*2)
	MOVOU     X7, (R11)(BX*2)
	ADDQ      $8, BX
	JMP       loop

stand:
	// X5 becomes -1 where something stands; X0 is how long it has, X2 how long it has been still.
	PCMPEQW X7, X5
	MOVQ    p+136(FP), AX
	SPREADL(Pace_Ms(AX), X1)
	SPREADL($const_MaxStay, X6)
	MOVOU   (R10)(BX*2), X0
	MOVOU   (R11)(BX*2), X2
	PADDW   X1, X0
	PADDW   X1, X2
	MOVO    X0, X1
	PSUBUSW X6, X1
	PSUBW   X1, X0
	MOVO    X2, X1
	PSUBUSW X6, X1
	PSUBW   X1, X2
	PAND    X5, X0
	MOVOU   X0, (R10)(BX*2)

	// X1 becomes how long it has been still: not, where it moved, which is X6.
	MOVQ      (R12)(BX*1), X6
	PUNPCKLBW X7, X6
	PSLLW     $14, X6
	PSRAW     $15, X6
	MOVO      X6, X1
	PANDN     X2, X1
	PAND      X5, X1
	MOVOU     X1, (R11)(BX*2)

	// X6 becomes what is parked: where it moved and is held (X2) for no longer than the place of what left, and where it has stood for long for at least that.
	MOVQ      (DX)(BX*1), X2
	PUNPCKLBW X7, X2
	PCMPEQW   X7, X2
	PANDN     X6, X2
	PAND      X5, X2
	MOVQ      (R14)(BX*1), X6
	PUNPCKLBW X7, X6
	SPREADL($const_ParkedFor, X4)
	MOVO      X6, X7
	PSUBUSW   X4, X7
	PAND      X2, X7
	PSUBW     X7, X6
	SPREADL($(const_ParkedAfter-1), X2)
	MOVO      X0, X7
	PSUBUSW   X2, X7
	PXOR      X2, X2
	PCMPEQW   X2, X7
	PANDN     X4, X7
	PSUBUSW   X6, X7
	PADDW     X7, X6

	// Where it has been still for long enough (X2) it becomes background.
	MOVQ     p+136(FP), AX
	SPREADL(Pace_Absorb(AX), X2)
	PSUBUSW  X1, X2
	PXOR     X7, X7
	PCMPEQW  X7, X2
	PAND     X5, X2
	MOVOU    (R8)(BX*2), X4
	PAND     X2, X3
	MOVO     X2, X1
	PANDN    X4, X1
	POR      X3, X1
	MOVOU    X1, (R8)(BX*2)
	SPREADL($const_AbsorbedFor, X0)
	PAND     X2, X0
	PANDN    X6, X2
	POR      X0, X2
	PACKUSWB X2, X2
	MOVQ     X2, (R14)(BX*1)
	ADDQ     $8, BX
	JMP      loop

end:
	RET

avx2:
	LIGHTY(gain+48(FP), offset+52(FP))
	MOVQ   p+136(FP), DX
	SPREADYL(Pace_Up(DX), X12, Y12)
	VPSRLW $4, Y12, Y13
	SPREADYL(Pace_Down(DX), X11, Y11)
	SPREADYL(Pace_Background(DX), X10, Y10)
	SPREADYL(Pace_TwigCap(DX), X9, Y9)
	SPREADYL(Pace_NoiseCap(DX), X8, Y8)
	MOVQ   m+128(FP), DX
	MOVQ   Memory_Background(DX), R8
	MOVQ   Memory_Noise(DX), R9
	MOVQ   Memory_Stay(DX), R10
	MOVQ   Memory_Still(DX), R11
	MOVQ   now_base+0(FP), SI
	MOVQ   now_len+8(FP), CX
	MOVQ   before_base+24(FP), DI
	MOVQ   flags_base+56(FP), R12
	MOVQ   solid_base+80(FP), R13
	MOVQ   held_base+104(FP), DX
	VPXOR  Y7, Y7, Y7
	ANDQ   $~15, CX
	MOVQ   CX, done+144(FP)
	XORQ   BX, BX

loopy:
	CMPQ BX, CX
	JGE  endy

	// Y1 becomes the difference from before less the noise Y4, modulo 1<<16, Y2 is -1 where that is not below 0. There it goes no higher than the cap if it is held (Y6).
	VMOVDQU   (DI)(BX*2), Y0
	APPLYY
	VMOVDQU   (SI)(BX*2), Y3
	DISTANCEY(Y0, Y3, Y1)
	VMOVDQU   (R9)(BX*2), Y4
	VPSUBW    Y4, Y0, Y1
	VPMAXUW   Y4, Y0, Y2
	VPCMPEQW  Y0, Y2, Y2
	VPMOVZXBW (DX)(BX*1), Y5
	VPCMPEQW  Y7, Y5, Y6
	VPANDN    Y2, Y6, Y6
	VPSUBUSW  Y4, Y8, Y0
	VPMINUW   Y0, Y1, Y0
	VPBLENDVB Y6, Y0, Y1, Y1

	// The share of a difference below 0, rounded down, is that of 1<<16 more, less the rate. Y5 is the rate.
	VPCMPEQW  moves<>(SB), Y5, Y5
	VPBLENDVB Y5, Y13, Y12, Y5
	VPBLENDVB Y2, Y5, Y11, Y5
	VPMULHUW  Y5, Y1, Y1
	VPANDN    Y11, Y2, Y2
	VPADDW    Y1, Y4, Y4
	VPSUBW    Y2, Y4, Y4
	VPMINUW   Y9, Y4, Y4
	VMOVDQU   Y4, (R9)(BX*2)

	// The background's step is Y1, found in the same way; Y5 is -1 where nothing stands.
	VMOVDQU   (R8)(BX*2), Y4
	VPSUBW    Y4, Y3, Y1
	VPMAXUW   Y4, Y3, Y2
	VPCMPEQW  Y3, Y2, Y2
	VPMULHUW  Y10, Y1, Y1
	VPANDN    Y10, Y2, Y2
	VPSUBW    Y2, Y1, Y1
	VMOVDQU   (R12)(BX*1), X5
	VPAND     (R13)(BX*1), X5, X5
	VPMOVZXBW X5, Y5
	VPCMPEQW  Y7, Y5, Y5
	VPAND     Y5, Y1, Y1
	VPADDW    Y1, Y4, Y4
	VPMOVMSKB Y5, AX
	CMPL      AX, $-1
	JNE       standy
	VMOVDQU   Y4, (R8)(BX*2)
	VMOVDQU   Y7, (R10)(BX*2)
	VMOVDQU   Y7, (R11)(BX*2)
	ADDQ      $16, BX
	JMP       loopy

standy:
	// As above: Y0 is how long something stands there, Y1 how long it has been still, Y2 where it moved.
	MOVQ         p+136(FP), AX
	VPBROADCASTW Pace_Ms(AX), Y1
	VPBROADCASTW stands<>+0(SB), Y2
	VPADDW       (R10)(BX*2), Y1, Y0
	VPADDW       (R11)(BX*2), Y1, Y1
	VPMINUW      Y2, Y0, Y0
	VPMINUW      Y2, Y1, Y1
	VPANDN       Y0, Y5, Y0
	VPMOVZXBW    (R12)(BX*1), Y2
	VPSLLW       $14, Y2, Y2
	VPSRAW       $15, Y2, Y2
	VPANDN       Y1, Y2, Y1
	VPANDN       Y1, Y5, Y1
	VMOVDQU      Y0, (R10)(BX*2)
	VMOVDQU      Y1, (R11)(BX*2)

	// Y6 is what is parked, Y2 where it moved and is held.
	VPMOVZXBW    (DX)(BX*1), Y6
	VPCMPEQW     Y7, Y6, Y6
	VPANDN       Y2, Y6, Y2
	VPANDN       Y2, Y5, Y2
	VPMOVZXBW    (R14)(BX*1), Y6
	VPBROADCASTW stands<>+2(SB), Y7
	VPMINUW      Y7, Y6, Y7
	VPBLENDVB    Y2, Y7, Y6, Y6
	VPBROADCASTW stands<>+4(SB), Y7
	VPMAXUW      Y7, Y0, Y7
	VPCMPEQW     Y7, Y0, Y7
	VPBROADCASTW stands<>+2(SB), Y2
	VPAND        Y2, Y7, Y7
	VPMAXUW      Y7, Y6, Y6

	// Where Y7 is set it becomes background.
	VPBROADCASTW Pace_Absorb(AX), Y7
	VPMAXUW      Y7, Y1, Y7
	VPCMPEQW     Y7, Y1, Y7
	VPANDN       Y7, Y5, Y7
	VPBLENDVB    Y7, Y3, Y4, Y4
	VPBROADCASTW stands<>+6(SB), Y2
	VPBLENDVB    Y7, Y2, Y6, Y6
	VMOVDQU      Y4, (R8)(BX*2)
	VEXTRACTI128 $1, Y6, X2
	VPACKUSWB    X2, X6, X6
	VMOVDQU      X6, (R14)(BX*1)
	VPXOR        Y7, Y7, Y7
	ADDQ         $16, BX
	JMP          loopy

endy:
	VZEROUPPER
	RET
