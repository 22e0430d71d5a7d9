// Instructions of NEON for vectors of eight cells of 16 bits. Go's assembler does not know them, or only by names of registers (Arm Architecture Reference Manual, C7.2);
// d, n and m are numbers of registers, in the order of the manual.
#define UABD(d, n, m)    WORD $(0x6e607400 | m<<16 | n<<5 | d) // d.8h = |n.8h - m.8h|
#define UQADD(d, n, m)   WORD $(0x6e600c00 | m<<16 | n<<5 | d) // d.8h = n.8h + m.8h, at most 65535
#define UQSUB(d, n, m)   WORD $(0x6e602c00 | m<<16 | n<<5 | d) // d.8h = n.8h - m.8h, at least 0
#define UMAX(d, n, m)    WORD $(0x6e606400 | m<<16 | n<<5 | d) // d.8h = max(n.8h, m.8h)
#define UMIN(d, n, m)    WORD $(0x6e606c00 | m<<16 | n<<5 | d) // d.8h = min(n.8h, m.8h)
#define CMHI(d, n, m)    WORD $(0x6e603400 | m<<16 | n<<5 | d) // d.8h = -1 where n.8h > m.8h, else 0
#define CMHS(d, n, m)    WORD $(0x6e603c00 | m<<16 | n<<5 | d) // d.8h = -1 where n.8h >= m.8h, else 0
#define CMTST(d, n, m)   WORD $(0x4e608c00 | m<<16 | n<<5 | d) // d.8h = -1 where n.8h & m.8h is not 0, else 0
#define BIC(d, n, m)     WORD $(0x4e601c00 | m<<16 | n<<5 | d) // d = n &^ m
#define UMULL(d, n, m)   WORD $(0x2e60c000 | m<<16 | n<<5 | d) // d.4s = n.4h * m.4h, the lower four
#define UMULL2(d, n, m)  WORD $(0x6e60c000 | m<<16 | n<<5 | d) // d.4s = n.4h * m.4h, the upper four
#define UMLAL(d, n, m)   WORD $(0x2e608000 | m<<16 | n<<5 | d) // d.4s += n.4h * m.4h, the lower four
#define UMLAL2(d, n, m)  WORD $(0x6e608000 | m<<16 | n<<5 | d) // d.4s += n.4h * m.4h, the upper four
#define SQXTUN(d, n)     WORD $(0x2e612800 | n<<5 | d)         // d.4h = n.4s within 0..65535, the lower four; the upper become 0
#define SQXTUN2(d, n)    WORD $(0x6e612800 | n<<5 | d)         // d.4h = n.4s within 0..65535, the upper four
#define XTNB(d, n)       WORD $(0x0e212800 | n<<5 | d)         // d.8b = the lower halves of n.8h
#define XTNH(d, n)       WORD $(0x0e612800 | n<<5 | d)         // d.4h = the lower halves of n.4s
#define UADDLPB(d, n)    WORD $(0x6e202800 | n<<5 | d)         // d.8h = sums of neighbours in n.16b
#define UADALPB(d, n)    WORD $(0x6e206800 | n<<5 | d)         // d.8h += sums of neighbours in n.16b
#define UADDLPH(d, n)    WORD $(0x6e602800 | n<<5 | d)         // d.4s = sums of neighbours in n.8h
#define UADALPH(d, n)    WORD $(0x6e606800 | n<<5 | d)         // d.4s += sums of neighbours in n.8h
#define CMHIB(d, n, m)   WORD $(0x6e203400 | m<<16 | n<<5 | d) // d.16b = -1 where n.16b > m.16b, else 0
#define UADDLPS(d, n)    WORD $(0x6ea02800 | n<<5 | d)         // d.2d = sums of neighbours in n.4s
#define UHADD(d, n, m)   WORD $(0x6e600400 | m<<16 | n<<5 | d) // d.8h = (n.8h + m.8h) / 2, rounded down
#define URHADD(d, n, m)  WORD $(0x6e601400 | m<<16 | n<<5 | d) // d.8h = (n.8h + m.8h) / 2, rounded up
#define ADDH(d, n, m)    WORD $(0x4e608400 | m<<16 | n<<5 | d) // d.8h = n.8h + m.8h
#define SUBH(d, n, m)    WORD $(0x6e608400 | m<<16 | n<<5 | d) // d.8h = n.8h - m.8h
#define ADDS(d, n, m)    WORD $(0x4ea08400 | m<<16 | n<<5 | d) // d.4s = n.4s + m.4s
#define AND16(d, n, m)   WORD $(0x4e201c00 | m<<16 | n<<5 | d) // d = n & m
#define ORR16(d, n, m)   WORD $(0x4ea01c00 | m<<16 | n<<5 | d) // d = n | m
#define EOR16(d, n, m)   WORD $(0x6e201c00 | m<<16 | n<<5 | d) // d = n ^ m
#define NOT16(d, n)      WORD $(0x6e205800 | n<<5 | d)         // d = ^n
#define BSL(d, n, m)     WORD $(0x6e601c00 | m<<16 | n<<5 | d) // d = n where d is set, m elsewhere
#define CMGT(d, n, m)    WORD $(0x4e603400 | m<<16 | n<<5 | d) // d.8h = -1 where n.8h > m.8h, signed
#define SMIN(d, n, m)    WORD $(0x4e606c00 | m<<16 | n<<5 | d) // d.8h = min(n.8h, m.8h), signed
#define SMAX(d, n, m)    WORD $(0x4e606400 | m<<16 | n<<5 | d) // d.8h = max(n.8h, m.8h), signed
#define CMTSTB(d, n, m)  WORD $(0x4e208c00 | m<<16 | n<<5 | d) // d.16b = -1 where n.16b & m.16b is not 0, else 0
#define UQADDB(d, n, m)  WORD $(0x6e200c00 | m<<16 | n<<5 | d) // d.16b = n.16b + m.16b, at most 255
#define UQSUBB(d, n, m)  WORD $(0x6e202c00 | m<<16 | n<<5 | d) // d.16b = n.16b - m.16b, at least 0
#define XTNB2(d, n)      WORD $(0x4e212800 | n<<5 | d)         // d.16b = the lower halves of n.8h, the upper eight

// d.2d = the sums of eight in d.16b
#define EIGHTS(d) \
	UADDLPB(d, d) \
	UADDLPH(d, d) \
	UADDLPS(d, d)
