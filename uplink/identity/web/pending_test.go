package web

// pending are cells whose rooms are not built yet. It must become empty.
var pending = map[string][]int{
	"POST /g/aaa/two_factor_authenticate":        {200, 412, 415},
	"POST /g/aaa/two_factor_authenticate/update": {200, 401, 415},
	"POST /g/aaa/two_factor_authenticate/verify": {200, 406},
	"POST /g/aaa/authorize":                      {406, 429},
}
