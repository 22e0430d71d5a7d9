//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// Eight cells of 16 bits in a vector of SSE2, which every amd64 has; sixteen where the processor has AVX2 and it saves enough. SSE2 has no unsigned minimum and maximum of 16 bits, but a subtraction that stops at 0:
// max(a, b) = a + (b-a), min(a, b) = a - (a-b), |a-b| = (a-b) | (b-a).

// The constants that APPLY needs: X15 is the gain eight times, X14 the offset - 32768 four times, X13 0x8000 eight times.
#define LIGHT(gain, offset) \
	MOVL    gain, AX      \
	MOVL    AX, X15       \
	PSHUFLW $0, X15, X15  \
	PSHUFL  $0, X15, X15  \
	MOVL    offset, AX    \
	SUBL    $32768, AX    \
	MOVL    AX, X14       \
	PSHUFL  $0, X14, X14  \
	PCMPEQW X13, X13      \
	PSLLW   $15, X13

// X0 = X0 under the exposure: a product of 32 bits, from which 32768 less is packed with signed saturation, and given back. X1, X2 are lost.
#define APPLY \
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

// x = the low 16 bits of v eight times; AX is lost.
#define SPREADL(v, x) \
	MOVL    v, AX    \
	MOVL    AX, x    \
	PSHUFLW $0, x, x \
	PSHUFL  $0, x, x

// The same for AVX2: Y15 is the gain, Y14 the offset.
#define LIGHTY(gain, offset) \
	MOVL         gain, AX    \
	MOVL         AX, X15     \
	VPBROADCASTW X15, Y15    \
	MOVL         offset, AX  \
	MOVL         AX, X14     \
	VPBROADCASTD X14, Y14

// Y0 = Y0 under the exposure. Y1, Y2 are lost.
#define APPLYY \
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

// y = the low 16 bits of v sixteen times; x is its lower half, AX is lost.
#define SPREADYL(v, x, y) \
	MOVL         v, AX \
	MOVL         AX, x \
	VPBROADCASTW x, y

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

// func classifyWide(now, before []uint16, gain, offset int32, background, noise []uint16, contrast int32, flags []byte) (done int)
TEXT ·classifyWide(SB), NOSPLIT, $0-144
	CMPB ·hasAVX2(SB), $1
	JEQ  avx2
	LIGHT(gain+48(FP), offset+52(FP))
	SPREADL(contrast+104(FP), X10)
	SPREADL($384, X11)
	SPREADL($0x0202, X12)
	MOVQ    now_base+0(FP), SI
	MOVQ    now_len+8(FP), CX
	MOVQ    before_base+24(FP), DI
	MOVQ    background_base+56(FP), R8
	MOVQ    noise_base+80(FP), R9
	MOVQ    flags_base+112(FP), R10
	ANDQ    $~15, CX
	MOVQ    CX, done+136(FP)
	XORQ    BX, BX

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
	SPREADYL($2, X12, Y12)
	SPREADYL($1, X13, Y13)
	MOVQ now_base+0(FP), SI
	MOVQ now_len+8(FP), CX
	MOVQ before_base+24(FP), DI
	MOVQ background_base+56(FP), R8
	MOVQ noise_base+80(FP), R9
	MOVQ flags_base+112(FP), R10
	ANDQ $~15, CX
	MOVQ CX, done+136(FP)
	XORQ BX, BX

loopy:
	CMPQ         BX, CX
	JGE          endy
	VMOVDQU      (DI)(BX*2), Y0
	APPLYY
	VMOVDQU      (SI)(BX*2), Y3
	VMOVDQU      (R9)(BX*2), Y4
	VMOVDQU      (R8)(BX*2), Y2
	VPADDUSW     Y4, Y4, Y4
	VPADDUSW     Y4, Y4, Y4
	VPADDUSW     Y11, Y4, Y4
	VPMAXUW      Y10, Y4, Y4
	DISTANCEY(Y0, Y3, Y1)
	DISTANCEY(Y2, Y3, Y1)
	VPSUBUSW     Y4, Y0, Y0
	VPSUBUSW     Y4, Y2, Y2
	VPXOR        Y5, Y5, Y5
	VPCMPEQW     Y5, Y0, Y0
	VPCMPEQW     Y5, Y2, Y2
	VPANDN       Y12, Y0, Y0
	VPANDN       Y13, Y2, Y2
	VPOR         Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPACKUSWB    X1, X0, X0
	VMOVDQU      X0, (R10)(BX*1)
	ADDQ         $16, BX
	JMP          loopy

endy:
	VZEROUPPER
	RET

// The scales of what stands somewhere.
DATA stands<>+0(SB)/2, $const_MaxStay
DATA stands<>+2(SB)/2, $const_ParkedFor
DATA stands<>+4(SB)/2, $const_ParkedAfter
DATA stands<>+6(SB)/2, $const_AbsorbedFor
GLOBL stands<>(SB), RODATA|NOPTR, $8

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

	// As above: Y1 above the noise, Y2 below, Y5 the rate.
	VMOVDQU   (DI)(BX*2), Y0
	APPLYY
	VMOVDQU   (SI)(BX*2), Y3
	DISTANCEY(Y0, Y3, Y1)
	VMOVDQU   (R9)(BX*2), Y4
	VPSUBUSW  Y4, Y0, Y1
	VPSUBUSW  Y0, Y4, Y2
	VPMOVZXBW (DX)(BX*1), Y5
	VPCMPEQW  Y7, Y5, Y6
	VPSUBUSW  Y4, Y8, Y0
	VPMINUW   Y0, Y1, Y0
	VPBLENDVB Y6, Y1, Y0, Y1
	VPCMPEQW  Y6, Y6, Y6
	VPSRLW    $15, Y6, Y0
	VPCMPEQW  Y0, Y5, Y5
	VPBLENDVB Y5, Y13, Y12, Y5
	VPMULHUW  Y5, Y1, Y1
	VPMULHUW  Y11, Y2, Y0
	VPMULLW   Y11, Y2, Y2
	VPCMPEQW  Y7, Y2, Y2
	VPADDW    Y1, Y4, Y4
	VPSUBW    Y0, Y4, Y4
	VPSUBW    Y2, Y4, Y4
	VPADDW    Y6, Y4, Y4
	VPMINUW   Y9, Y4, Y4
	VMOVDQU   Y4, (R9)(BX*2)

	// The background's step is Y1; Y5 is -1 where nothing stands.
	VMOVDQU   (R8)(BX*2), Y4
	VPSUBUSW  Y4, Y3, Y1
	VPSUBUSW  Y3, Y4, Y2
	VPMULHUW  Y10, Y1, Y1
	VPMULHUW  Y10, Y2, Y0
	VPMULLW   Y10, Y2, Y2
	VPCMPEQW  Y7, Y2, Y2
	VPSUBW    Y0, Y1, Y1
	VPSUBW    Y2, Y1, Y1
	VPADDW    Y6, Y1, Y1
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

// Adds the four unsigned 32-bit lanes of x to the 64-bit field of (DI). X0, X1 and AX are lost.
#define TOTAL(x, field) \
	PXOR      X0, X0      \
	MOVO      x, X1       \
	PUNPCKLLQ X0, x       \
	PUNPCKHLQ X0, X1      \
	PADDQ     X1, x       \
	PSHUFL    $0xEE, x, X1 \
	PADDQ     X1, x       \
	MOVQ      x, AX       \
	ADDQ      AX, field(DI)

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

// func widenWide(row []byte, out []uint16) (done int)
TEXT ·widenWide(SB), NOSPLIT, $0-56
	MOVQ row_base+0(FP), SI
	MOVQ out_base+24(FP), DI
	MOVQ out_len+32(FP), CX
	ANDQ $~7, CX
	MOVQ CX, done+48(FP)
	JZ   end

loop:
	MOVQ      (SI), X0
	PXOR      X1, X1
	PUNPCKLBW X0, X1
	MOVOU     X1, (DI)
	ADDQ      $8, SI
	ADDQ      $16, DI
	SUBQ      $8, CX
	JNZ       loop

end:
	RET

// func meansTwoWide(top, low []byte, out []uint16) (done int)
TEXT ·meansTwoWide(SB), NOSPLIT, $0-80
	MOVQ    top_base+0(FP), SI
	MOVQ    low_base+24(FP), R8
	MOVQ    out_base+48(FP), DI
	MOVQ    out_len+56(FP), CX
	ANDQ    $~7, CX
	MOVQ    CX, done+72(FP)
	CMPB    ·hasAVX2(SB), $1
	JEQ     avx2

rest:
	CMPQ    CX, $0
	JEQ     end
	PCMPEQW X7, X7
	PSRLW   $8, X7

loop:
	MOVOU (SI), X0
	MOVOU (R8), X1
	MOVO  X0, X2
	MOVO  X1, X3
	PAND  X7, X0
	PAND  X7, X1
	PSRLW $8, X2
	PSRLW $8, X3
	PADDW X1, X0
	PADDW X3, X2
	PADDW X2, X0
	PSLLW $6, X0
	MOVOU X0, (DI)
	ADDQ  $16, SI
	ADDQ  $16, R8
	ADDQ  $16, DI
	SUBQ  $8, CX
	JNZ   loop

end:
	RET

avx2:
	SUBQ     $32, CX
	JLT      short
	MOVQ     R8, R9
	SUBQ     SI, R9            // the stride
	LEAQ     (SI)(R9*8), R10   // eight rows of cells ahead are fetched, which takes about as long as the way to the memory and back
	LEAQ     (R10)(R9*8), R10
	VPCMPEQB Y6, Y6, Y6
	VPABSB   Y6, Y6

loopy:
	PREFETCHT0 (R10)
	PREFETCHT0 (R10)(R9*1)
	VMOVDQU    (SI), Y0
	VMOVDQU    32(SI), Y1
	VMOVDQU    (R8), Y2
	VMOVDQU    32(R8), Y3
	VPMADDUBSW Y6, Y0, Y0
	VPMADDUBSW Y6, Y1, Y1
	VPMADDUBSW Y6, Y2, Y2
	VPMADDUBSW Y6, Y3, Y3
	VPADDW     Y2, Y0, Y0
	VPADDW     Y3, Y1, Y1
	VPSLLW     $6, Y0, Y0
	VPSLLW     $6, Y1, Y1
	VMOVDQU    Y0, (DI)
	VMOVDQU    Y1, 32(DI)
	ADDQ       $64, SI
	ADDQ       $64, R8
	ADDQ       $64, R10
	ADDQ       $64, DI
	SUBQ       $32, CX
	JGE        loopy
	VZEROUPPER

short:
	ADDQ $32, CX
	JMP  rest

// func sumColumnsWide(luma []byte, stride, rows int, sums []uint16) (done int)
TEXT ·sumColumnsWide(SB), NOSPLIT, $0-72
	MOVQ luma_base+0(FP), SI
	MOVQ stride+24(FP), R8
	MOVQ rows+32(FP), R9
	MOVQ sums_base+40(FP), DI
	MOVQ sums_len+48(FP), CX
	ANDQ $~15, CX
	MOVQ CX, done+64(FP)
	JZ   end
	PXOR X7, X7

column:
	PXOR X0, X0
	PXOR X1, X1
	MOVQ SI, R10
	MOVQ R9, R11

row:
	MOVOU     (R10), X2
	MOVO      X2, X3
	PUNPCKLBW X7, X2
	PUNPCKHBW X7, X3
	PADDW     X2, X0
	PADDW     X3, X1
	ADDQ      R8, R10
	DECQ      R11
	JNZ       row
	MOVOU     X0, (DI)
	MOVOU     X1, 16(DI)
	ADDQ      $16, SI
	ADDQ      $32, DI
	SUBQ      $16, CX
	JNZ       column

end:
	RET

// y = the sums of pairs of pixels in eight cells' columns of four rows, the first of them at SI; Y6 is 1 in each byte. t is lost.
#define COLUMNSY(at, y, t) \
	VMOVDQU    at(SI), y         \
	VPMADDUBSW Y6, y, y          \
	VMOVDQU    at(SI)(R8*1), t   \
	VPMADDUBSW Y6, t, t          \
	VPADDW     t, y, y           \
	VMOVDQU    at(SI)(R8*2), t   \
	VPMADDUBSW Y6, t, t          \
	VPADDW     t, y, y           \
	VMOVDQU    at(SI)(R9*1), t   \
	VPMADDUBSW Y6, t, t          \
	VPADDW     t, y, y

// func meansFourWide(luma []byte, stride int, out []uint16) (done int)
TEXT ·meansFourWide(SB), NOSPLIT, $0-64
	CMPB ·hasAVX2(SB), $1
	JEQ  avx2
	MOVQ    luma_base+0(FP), SI
	MOVQ    stride+24(FP), R8
	MOVQ    out_base+32(FP), DI
	MOVQ    out_len+40(FP), CX
	ANDQ    $~3, CX
	MOVQ    CX, done+56(FP)
	JZ      end
	LEAQ    (R8)(R8*2), R9
	LEAQ    (SI)(R8*4), R10    // the next row of cells: it is fetched ahead, as four short rows are too short for the processor to notice
	PCMPEQW X7, X7
	PSRLW   $8, X7
	PCMPEQW X6, X6
	PSRLW   $15, X6
	PCMPEQW X5, X5
	PSLLW   $15, X5
	MOVL    $32768, AX
	MOVL    AX, X4
	PSHUFL  $0, X4, X4

// Adds the sums of neighbours of the pixels in x to X0.
#define PAIRS(x, t) \
	MOVO  x, t  \
	PAND  X7, x \
	PSRLW $8, t \
	PADDW x, X0 \
	PADDW t, X0

loop:
	PREFETCHT0 (R10)
	PREFETCHT0 (R10)(R8*1)
	PREFETCHT0 (R10)(R8*2)
	PREFETCHT0 (R10)(R9*1)
	ADDQ     $16, R10
	PXOR     X0, X0
	MOVOU    (SI), X1
	MOVOU    (SI)(R8*1), X2
	PAIRS(X1, X3)
	PAIRS(X2, X3)
	MOVOU    (SI)(R8*2), X1
	MOVOU    (SI)(R9*1), X2
	PAIRS(X1, X3)
	PAIRS(X2, X3)
	PMADDWL  X6, X0
	PSLLL    $4, X0            // at most 65280: packed as signed, less 32768
	PSUBL    X4, X0
	PACKSSLW X0, X0
	PXOR     X5, X0
	MOVQ     X0, (DI)
	ADDQ     $16, SI
	ADDQ     $8, DI
	SUBQ     $4, CX
	JNZ      loop

end:
	RET

avx2:
	MOVQ     luma_base+0(FP), SI
	MOVQ     stride+24(FP), R8
	MOVQ     out_base+32(FP), DI
	MOVQ     out_len+40(FP), CX
	ANDQ     $~15, CX
	MOVQ     CX, done+56(FP)
	JZ       endy
	LEAQ     (R8)(R8*2), R9
	LEAQ     (SI)(R8*8), R10   // the row of cells after the next is fetched ahead: rows are too short for the processor to notice in time
	VPCMPEQB Y6, Y6, Y6
	VPABSB   Y6, Y6
	VPCMPEQW Y5, Y5, Y5
	VPSRLW   $15, Y5, Y5

loopy:
	PREFETCHT0 (R10)
	PREFETCHT0 (R10)(R8*1)
	PREFETCHT0 (R10)(R8*2)
	PREFETCHT0 (R10)(R9*1)
	COLUMNSY(0, Y0, Y1)
	COLUMNSY(32, Y2, Y3)
	VPMADDWD  Y5, Y0, Y0
	VPMADDWD  Y5, Y2, Y2
	VPACKUSDW Y2, Y0, Y0       // the four cells of each half of the two in turn
	VPERMQ    $0xD8, Y0, Y0
	VPSLLW    $4, Y0, Y0
	VMOVDQU   Y0, (DI)
	ADDQ      $64, R10
	ADDQ      $64, SI
	ADDQ      $32, DI
	SUBQ      $16, CX
	JNZ       loopy

endy:
	VZEROUPPER
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

// func onesWide(flags, mask, out []byte) (done int, any uint64)
TEXT ·onesWide(SB), NOSPLIT, $0-88
	MOVQ    flags_base+0(FP), SI
	MOVQ    flags_len+8(FP), CX
	MOVQ    mask_base+24(FP), R8
	MOVQ    out_base+48(FP), DI
	ANDQ    $~15, CX
	MOVQ    CX, done+72(FP)
	PXOR    X4, X4
	SPREADL($0x0101, X3)
	XORQ    BX, BX
	CMPB    ·hasAVX2(SB), $1
	JEQ     avx2

loop:
	CMPQ  BX, CX
	JGE   end
	MOVOU (SI)(BX*1), X0
	MOVOU (R8)(BX*1), X1
	PAND  X1, X0
	MOVO  X0, X1
	PSRLW $1, X1
	POR   X1, X0
	PAND  X3, X0
	POR   X0, X4
	MOVOU X0, (DI)(BX*1)
	ADDQ  $16, BX
	JMP   loop

end:
	PSHUFL $0xEE, X4, X0
	POR    X0, X4
	MOVQ   X4, any+80(FP)
	RET

avx2:
	VPBROADCASTW X3, Y3
	VPXOR        Y4, Y4, Y4
	MOVQ         CX, DX
	ANDQ         $~31, DX

loopy:
	CMPQ    BX, DX
	JGE     endy
	VMOVDQU (SI)(BX*1), Y0
	VPAND   (R8)(BX*1), Y0, Y0
	VPSRLW  $1, Y0, Y1
	VPOR    Y1, Y0, Y0
	VPAND   Y3, Y0, Y0
	VPOR    Y0, Y4, Y4
	VMOVDQU Y0, (DI)(BX*1)
	ADDQ    $32, BX
	JMP     loopy

endy:
	VEXTRACTI128 $1, Y4, X0
	VPOR         X0, X4, X4
	VZEROUPPER
	JMP          loop

// func despeckleWide(ones []byte, pitch int, solid []byte) (done, found int)
TEXT ·despeckleWide(SB), NOSPLIT, $0-72
	MOVQ    ones_base+0(FP), SI
	MOVQ    pitch+24(FP), R9
	MOVQ    solid_base+32(FP), DI
	MOVQ    solid_len+40(FP), CX
	LEAQ    (SI)(R9*1), R8     // the row itself
	LEAQ    (R8)(R9*1), R9     // the row below
	ANDQ    $~15, CX
	MOVQ    CX, done+56(FP)
	PXOR    X7, X7
	PXOR    X5, X5             // found, in two sums
	SPREADL($(0x0101*(const_SpeckleNeighbours-1)), X6)
	XORQ    BX, BX
	CMPB    ·hasAVX2(SB), $1
	JEQ     avx2

loop:
	CMPQ     BX, CX
	JGE      end
	MOVOU    1(R8)(BX*1), X0
	MOVO     X0, X1
	PCMPEQB  X7, X1
	PMOVMSKB X1, AX
	CMPL     AX, $0xffff
	JEQ      none

	// X1 becomes the sum of the 3x3 cells, at most 9.
	MOVOU    (SI)(BX*1), X1
	MOVOU    1(SI)(BX*1), X2
	MOVOU    2(SI)(BX*1), X3
	PADDB    X2, X1
	PADDB    X3, X1
	MOVOU    (R8)(BX*1), X2
	MOVOU    2(R8)(BX*1), X3
	PADDB    X0, X1
	PADDB    X2, X1
	PADDB    X3, X1
	MOVOU    (R9)(BX*1), X2
	MOVOU    1(R9)(BX*1), X3
	MOVOU    2(R9)(BX*1), X4
	PADDB    X2, X1
	PADDB    X3, X1
	PADDB    X4, X1
	PCMPGTB  X6, X1
	PAND     X1, X0
	MOVOU    X0, (DI)(BX*1)
	PSADBW   X7, X0
	PADDQ    X0, X5
	ADDQ     $16, BX
	JMP      loop

none:
	MOVOU X7, (DI)(BX*1)
	ADDQ  $16, BX
	JMP   loop

end:
	PSHUFL $0xEE, X5, X0
	PADDQ  X0, X5
	MOVQ   X5, found+64(FP)
	RET

avx2:
	VPBROADCASTW X6, Y6
	VPXOR        Y7, Y7, Y7
	VPXOR        Y5, Y5, Y5
	MOVQ         CX, DX
	ANDQ         $~31, DX

loopy:
	CMPQ     BX, DX
	JGE      endy
	VMOVDQU  1(R8)(BX*1), Y0
	VPTEST   Y0, Y0
	JEQ      noney
	VPADDB   (R8)(BX*1), Y0, Y1
	VPADDB   2(R8)(BX*1), Y1, Y1
	VMOVDQU  (SI)(BX*1), Y2
	VPADDB   1(SI)(BX*1), Y2, Y2
	VPADDB   2(SI)(BX*1), Y2, Y2
	VMOVDQU  (R9)(BX*1), Y3
	VPADDB   1(R9)(BX*1), Y3, Y3
	VPADDB   2(R9)(BX*1), Y3, Y3
	VPADDB   Y2, Y1, Y1
	VPADDB   Y3, Y1, Y1
	VPCMPGTB Y6, Y1, Y1
	VPAND    Y1, Y0, Y0
	VMOVDQU  Y0, (DI)(BX*1)
	VPSADBW  Y7, Y0, Y0
	VPADDQ   Y0, Y5, Y5
	ADDQ     $32, BX
	JMP      loopy

noney:
	VMOVDQU Y7, (DI)(BX*1)
	ADDQ    $32, BX
	JMP     loopy

endy:
	VEXTRACTI128 $1, Y5, X0
	VPADDQ       X0, X5, X5
	VZEROUPPER
	JMP          loop

// func flagsWide(flags []byte, pitch, rows int, blocks []Block) (done int)
TEXT ·flagsWide(SB), NOSPLIT, $0-72
	MOVQ flags_base+0(FP), SI
	MOVQ pitch+24(FP), R8
	MOVQ rows+32(FP), R9
	MOVQ blocks_base+40(FP), DI
	MOVQ blocks_len+48(FP), CX
	ANDQ $~1, CX
	MOVQ CX, done+64(FP)
	PXOR X7, X7
	SPREADL($0x0101, X6)
	CMPB ·hasAVX2(SB), $1
	JEQ  avx2

rest:
	CMPQ CX, $0
	JMP  test

block:
	PXOR X0, X0                // with the flag Fore
	PXOR X1, X1                // with the flag Moved
	MOVQ SI, R10
	MOVQ R9, R11

row:
	MOVOU (R10), X4
	MOVO  X4, X5
	PSRLW $1, X5
	PAND  X6, X4
	PAND  X6, X5
	PADDB X4, X0
	PADDB X5, X1
	ADDQ  R8, R10
	DECQ  R11
	JNZ   row
	PSADBW X7, X0
	PSADBW X7, X1
	PSLLQ  $16, X1
	POR    X1, X0
	MOVOU  X0, (DI)
	ADDQ   $16, SI
	ADDQ   $16, DI
	SUBQ   $2, CX

test:
	JNZ block
	RET

avx2:
	VPBROADCASTW X6, Y6
	VPXOR        Y7, Y7, Y7
	JMP          testy

blocky:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	MOVQ  SI, R10
	MOVQ  R9, R11

rowy:
	VMOVDQU (R10), Y4
	VPSRLW  $1, Y4, Y5
	VPAND   Y6, Y4, Y4
	VPAND   Y6, Y5, Y5
	VPADDB  Y4, Y0, Y0
	VPADDB  Y5, Y1, Y1
	ADDQ    R8, R10
	DECQ    R11
	JNZ     rowy
	VPSADBW Y7, Y0, Y0
	VPSADBW Y7, Y1, Y1
	VPSLLQ  $16, Y1, Y1
	VPOR    Y1, Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, CX

testy:
	CMPQ CX, $4
	JGE  blocky
	VZEROUPPER
	JMP  rest

// func solidWide(flags, solid []byte, pitch, rows int, blocks []Block) (done int)
TEXT ·solidWide(SB), NOSPLIT, $0-96
	MOVQ flags_base+0(FP), SI
	MOVQ solid_base+24(FP), DX
	MOVQ pitch+48(FP), R8
	MOVQ rows+56(FP), R9
	MOVQ blocks_base+64(FP), DI
	MOVQ blocks_len+72(FP), CX
	ANDQ $~1, CX
	MOVQ CX, done+88(FP)
	PXOR X7, X7
	SPREADL($0x0101, X6)
	CMPB ·hasAVX2(SB), $1
	JEQ  avx2

rest:
	CMPQ CX, $0
	JMP  test

block:
	PXOR X0, X0
	PXOR X1, X1
	PXOR X2, X2                // solid
	PXOR X3, X3                // solid with the flag Moved
	MOVQ SI, R10
	MOVQ DX, R12
	MOVQ R9, R11

row:
	MOVOU (R10), X4
	MOVOU (R12), X8
	MOVO  X4, X5
	PSRLW $1, X5
	PAND  X8, X4
	PAND  X6, X5
	PADDB X4, X0
	PADDB X5, X1
	PADDB X8, X2
	PAND  X8, X5
	PADDB X5, X3
	ADDQ  R8, R10
	ADDQ  R8, R12
	DECQ  R11
	JNZ   row
	PSADBW X7, X0
	PSADBW X7, X1
	PSADBW X7, X2
	PSADBW X7, X3
	PSLLQ  $16, X1
	PSLLQ  $32, X2
	PSLLQ  $48, X3
	POR    X1, X0
	POR    X2, X0
	POR    X3, X0
	MOVOU  X0, (DI)
	ADDQ   $16, SI
	ADDQ   $16, DX
	ADDQ   $16, DI
	SUBQ   $2, CX

test:
	JNZ block
	RET

avx2:
	VPBROADCASTW X6, Y6
	VPXOR        Y7, Y7, Y7
	JMP          testy

blocky:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ  SI, R10
	MOVQ  DX, R12
	MOVQ  R9, R11

rowy:
	VMOVDQU (R10), Y4
	VMOVDQU (R12), Y8
	VPSRLW  $1, Y4, Y5
	VPAND   Y8, Y4, Y4
	VPAND   Y6, Y5, Y5
	VPADDB  Y4, Y0, Y0
	VPADDB  Y5, Y1, Y1
	VPADDB  Y8, Y2, Y2
	VPAND   Y8, Y5, Y5
	VPADDB  Y5, Y3, Y3
	ADDQ    R8, R10
	ADDQ    R8, R12
	DECQ    R11
	JNZ     rowy
	VPSADBW Y7, Y0, Y0
	VPSADBW Y7, Y1, Y1
	VPSADBW Y7, Y2, Y2
	VPSADBW Y7, Y3, Y3
	VPSLLQ  $16, Y1, Y1
	VPSLLQ  $32, Y2, Y2
	VPSLLQ  $48, Y3, Y3
	VPOR    Y1, Y0, Y0
	VPOR    Y2, Y0, Y0
	VPOR    Y3, Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DX
	ADDQ    $32, DI
	SUBQ    $4, CX

testy:
	CMPQ CX, $4
	JGE  blocky
	VZEROUPPER
	JMP  rest

// func smoothWide(to, a, b, c []uint16) (done int)
TEXT ·smoothWide(SB), NOSPLIT, $0-104
	MOVQ    to_base+0(FP), DI
	MOVQ    to_len+8(FP), CX
	MOVQ    a_base+24(FP), SI
	MOVQ    b_base+48(FP), R8
	MOVQ    c_base+72(FP), R9
	XORQ    BX, BX
	CMPB    ·hasAVX2(SB), $1
	JEQ     avx2
	ANDQ    $~7, CX
	MOVQ    CX, done+96(FP)
	PCMPEQW X7, X7
	PSRLW   $15, X7

loop:
	CMPQ  BX, CX
	JGE   end
	MOVOU (SI)(BX*2), X0
	MOVOU (R9)(BX*2), X1
	MOVOU (R8)(BX*2), X2
	MOVO  X0, X3               // half of a + c rounded down, then half of that and b rounded up: the bit that was lost changes nothing
	PXOR  X1, X3
	PAND  X7, X3
	PAVGW X1, X0
	PSUBW X3, X0
	PAVGW X2, X0
	MOVOU X0, (DI)(BX*2)
	ADDQ  $8, BX
	JMP   loop

end:
	RET

avx2:
	ANDQ     $~15, CX
	MOVQ     CX, done+96(FP)
	VPCMPEQW Y7, Y7, Y7
	VPSRLW   $15, Y7, Y7

loopy:
	CMPQ    BX, CX
	JGE     endy
	VMOVDQU (SI)(BX*2), Y0
	VMOVDQU (R9)(BX*2), Y1
	VPXOR   Y1, Y0, Y3
	VPAND   Y7, Y3, Y3
	VPAVGW  Y1, Y0, Y0
	VPSUBW  Y3, Y0, Y0
	VPAVGW  (R8)(BX*2), Y0, Y0
	VMOVDQU Y0, (DI)(BX*2)
	ADDQ    $16, BX
	JMP     loopy

endy:
	VZEROUPPER
	RET

// func shareWide(to, from []uint16, share uint16) (done int)
TEXT ·shareWide(SB), NOSPLIT, $0-64
	MOVQ    to_base+0(FP), DI
	MOVQ    to_len+8(FP), CX
	MOVQ    from_base+24(FP), SI
	MOVWLZX share+48(FP), AX
	MOVL    AX, X7
	PSHUFLW $0, X7, X7
	PSHUFL  $0, X7, X7
	ANDQ    $~15, CX
	MOVQ    CX, done+56(FP)
	XORQ    BX, BX

loop:
	CMPQ    BX, CX
	JGE     end
	MOVOU   (SI)(BX*2), X0
	MOVOU   16(SI)(BX*2), X1
	PMULHUW X7, X0
	PMULHUW X7, X1
	MOVOU   X0, (DI)(BX*2)
	MOVOU   X1, 16(DI)(BX*2)
	ADDQ    $16, BX
	JMP     loop

end:
	RET
