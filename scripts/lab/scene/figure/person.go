package figure

import (
	"math"
	"math/rand/v2"

	"vmsbridge/scripts/lab/scene/plate"
)

// Look is how a person is built and dressed.
type Look struct {
	Skin, Hair, Coat, Trousers, Shoes Tone
	Wide                              float64 // 0.8 slim to 1.25
	Skirt, Bag                        bool
	Folds                             float64
	Seed                              float64
}

// Pose is where a person is, and in which moment of the step. X, Feet and Tall are fractions of the
// picture: the middle of the body, the soles and the body's height.
type Pose struct {
	X, Feet, Tall float64
	Phase         float64 // of the walk: 1 is two steps
	Stride        float64 // 1 walks, 0 stands
	Facing        float64 // 1 walks to the right, -1 to the left, 0 to or from the camera
	Sway          float64 // of one who stands, about -1..1
	Shadow        float64 // strength
	Lean          float64 // of the shadow
	Crawls        bool
	Sits          bool
}

// Dress draws clothes as people wear them: dark more often than light, trousers darker than coats.
func Dress(r *rand.Rand) Look {
	tone := func(low, high float64) Tone {
		g := low + (high-low)*math.Pow(r.Float64(), 1.4)
		return Tone{g, min(230, max(25, g+60*r.NormFloat64()+40)), 20 * (r.Float64() - 0.5), 20 * (r.Float64() - 0.5)}
	}
	l := Look{
		Skin: Tone{120 + 80*r.Float64(), 190, -12, 16}, Hair: tone(18, 150), Coat: tone(22, 225), Trousers: tone(20,
			150), Shoes: tone(15, 120),
		Wide: 0.85 + 0.35*r.Float64(), Skirt: r.Float64() < 0.15, Bag: r.Float64() < 0.3, Folds: 0.1 +
			0.25*r.Float64(), Seed: 100 * r.Float64(),
	}
	l.Hair.U, l.Hair.V = -3, 4
	return l
}

// Plain dresses all of a person in one tone, with hardly a fold.
func Plain(t Tone) Look {
	return Look{Skin: t, Hair: t, Coat: t, Trousers: t, Shoes: t, Wide: 1, Folds: 0.03}
}

// Stands is the depth of the person's place.
func (p Pose) stands() uint8 { return plate.Stands(p.Feet) }

// Draw draws the person.
func (l *Look) Draw(t *Target, p Pose) {
	if p.Crawls {
		l.crawl(t, p)
		return
	}
	w, h := float64(t.Width), float64(t.Height)
	tall := p.Tall * h
	side := math.Abs(p.Facing)
	swing := math.Sin(2*math.Pi*p.Phase) * p.Stride
	bob := 0.012 * tall * math.Cos(4*math.Pi*p.Phase) * p.Stride
	x, feet := p.X*w+p.Sway*0.012*tall, p.Feet*h
	if p.Shadow > 0 {
		aspect := h / w
		t.Shadow(p.X+p.Lean*0.2*p.Tall*aspect, p.Feet, (0.2+0.25*math.Abs(p.Lean))*p.Tall*aspect, 0.045*p.Tall, 0,
			p.Shadow, p.stands())
	}
	dir := 1.0
	if p.Facing < 0 {
		dir = -1
	}
	seed := l.Seed
	at := func(tone Tone, up float64) brush {
		return t.brush(tone, p.X, p.Feet-up*p.Tall, p.stands(), l.Folds, seed+up*7)
	}
	hip, shoulder := feet-0.5*tall-bob, feet-0.82*tall-bob
	if p.Sits {
		hip, shoulder = feet-0.28*tall, feet-0.6*tall
	}
	breadth := (0.075 + 0.035*(1-side)) * l.Wide * tall
	trousers, coat, skin, shoes := at(l.Trousers, 0.3), at(l.Coat, 0.65), at(l.Skin, 0.9), at(l.Shoes, 0.02)

	leg := func(s float64) {
		if p.Sits {
			kx, ky, apart := x+dir*(0.22+0.02*s)*tall, hip-0.01*tall, -s*0.02*tall
			t.limb(trousers, x+apart, hip, 0.065*l.Wide*tall, kx+apart, ky, 0.05*l.Wide*tall)
			t.limb(trousers, kx+apart, ky, 0.046*l.Wide*tall, kx+apart-dir*0.03*tall, feet-0.03*tall, 0.032*tall)
			t.limb(shoes, kx+apart-dir*0.04*tall, feet-0.022*tall, 0.024*tall, kx+apart+dir*0.05*tall, feet-0.016*tall,
				0.018*tall)
			return
		}
		ahead := s * swing * 0.42 * side * dir * tall * 0.5
		apart := -s * 0.045 * tall * (1 - side*0.8)
		lift := max(0, -s*math.Cos(2*math.Pi*p.Phase)) * p.Stride
		up := lift * (0.05 + 0.06*(1-side)) * tall
		kx, ky := x+apart+0.55*ahead+dir*side*lift*0.07*tall, hip+0.26*tall-0.3*up
		fx, fy := x+apart+ahead-dir*side*lift*0.06*tall, feet-0.03*tall-up
		t.limb(trousers, x+apart*0.8, hip, 0.062*l.Wide*tall, kx, ky, 0.045*l.Wide*tall)
		t.limb(trousers, kx, ky, 0.043*l.Wide*tall, fx, fy, 0.03*tall)
		t.limb(shoes, fx-dir*side*0.02*tall, fy+0.008*tall, 0.024*tall, fx+dir*side*0.06*tall, fy+0.014*tall,
			0.018*tall)
	}
	arm := func(s float64) {
		ahead := -s * swing * 0.3 * side * dir * tall * 0.5
		apart := -s * breadth * (1.15 - side*0.75)
		ex, ey := x+apart+0.5*ahead-0.02*tall*dir*side, shoulder+0.17*tall
		hx, hy := x+apart*1.1+1.2*ahead, shoulder+0.33*tall-0.04*tall*math.Abs(swing)
		t.limb(coat, x+apart, shoulder+0.03*tall, 0.033*l.Wide*tall, ex, ey, 0.03*tall)
		t.limb(coat, ex, ey, 0.028*tall, hx, hy, 0.022*tall)
		t.limb(skin, hx, hy, 0.02*tall, hx, hy+0.02*tall, 0.02*tall)
	}
	arm(-1)
	leg(-1)
	leg(1)
	if l.Skirt {
		t.limb(coat, x, hip-0.02*tall, breadth, x+0.02*swing*tall, hip+0.22*tall, breadth*1.35)
	}
	t.limb(coat, x+dir*side*0.012*tall, shoulder+0.045*tall, breadth, x, hip, breadth*0.92)
	if l.Bag {
		t.limb(shoes, x-dir*breadth, shoulder+0.08*tall, 0.05*tall, x-dir*breadth*1.1, shoulder+0.24*tall, 0.055*tall)
	}
	arm(1)
	head := shoulder - 0.085*tall
	t.limb(skin, x+dir*side*0.012*tall, shoulder, 0.03*tall, x+dir*side*0.015*tall, head, 0.045*tall)
	t.limb(skin, x+dir*side*0.015*tall, head, 0.052*tall, x+dir*side*0.02*tall, head-0.02*tall, 0.05*tall)
	t.limb(at(l.Hair, 0.97), x-dir*side*0.012*tall, head-0.015*tall, 0.05*tall, x+dir*side*0.01*tall, head-0.035*tall,
		0.048*tall)
}

// crawl draws the person on hands and knees.
func (l *Look) crawl(t *Target, p Pose) {
	w, h := float64(t.Width), float64(t.Height)
	tall := p.Tall * h
	x, feet := p.X*w, p.Feet*h
	dir := 1.0
	if p.Facing < 0 {
		dir = -1
	}
	if p.Shadow > 0 {
		t.Shadow(p.X, p.Feet, 0.42*p.Tall*h/w, 0.05*p.Tall, 0, p.Shadow, p.stands())
	}
	at := func(tone Tone, up float64) brush {
		return t.brush(tone, p.X, p.Feet-up*p.Tall, p.stands(), l.Folds, l.Seed+up*7)
	}
	s := math.Sin(2*math.Pi*p.Phase) * 0.07 * tall
	hipX, shoulderX, back := x-dir*0.2*tall, x+dir*0.18*tall, feet-0.27*tall
	trousers, coat, skin := at(l.Trousers, 0.2), at(l.Coat, 0.25), at(l.Skin, 0.3)
	for _, k := range []float64{-1, 1} {
		kx := hipX + dir*(0.05*tall+k*s)
		t.limb(trousers, hipX, back, 0.06*tall, kx, feet-0.04*tall, 0.045*tall)
		t.limb(trousers, kx, feet-0.04*tall, 0.04*tall, kx-dir*0.2*tall, feet-0.03*tall, 0.03*tall)
		t.limb(coat, shoulderX, back+0.02*tall, 0.035*tall, shoulderX+dir*(0.03*tall-k*s), feet-0.02*tall, 0.025*tall)
	}
	t.limb(coat, hipX, back, 0.07*l.Wide*tall, shoulderX, back-0.01*tall, 0.08*l.Wide*tall)
	t.limb(skin, shoulderX+dir*0.13*tall, back-0.05*tall, 0.05*tall, shoulderX+dir*0.15*tall, back-0.06*tall, 0.05*tall)
	t.limb(at(l.Hair, 0.35), shoulderX+dir*0.11*tall, back-0.08*tall, 0.045*tall, shoulderX+dir*0.14*tall,
		back-0.085*tall, 0.045*tall)
}
