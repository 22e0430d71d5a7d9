package vms

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// iso is the forms of ISO 8601 with an offset that are not RFC 3339's: dates by day of the year or
// of the week, without separators, or with a space before the time; times without seconds; offsets
// of hours alone; a fraction behind a comma; and the minus sign that is none of ASCII's. The last
// group is an offset whose plus arrived as a space.
var iso = regexp.MustCompile(`^(?:(\d{4})-?(\d\d)-?(\d\d)|(\d{4})-?(\d{3})|(\d{4})-?[Ww](\d\d)-?([1-7]))` +
	`[Tt ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9})\d*)?)?)?` +
	`(?: ?([Zz])| ?([+−-])(\d\d)(?::?(\d\d))?| (\d\d)(?::?(\d\d))?)$`)

// parseISO reads one of the forms of iso. ok is false for anything else.
func parseISO(s string) (_ time.Time, ok bool) {
	m := iso.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, false
	}
	num := func(i int) int {
		n, _ := strconv.Atoi(m[i]) // "" is 0; the expression lets nothing else through than digits
		return n
	}
	day, ok := isoDate(m[1] != "", m[4] != "", num)
	hour, minute, second := num(9), num(10), num(11)
	nanos, _ := strconv.Atoi((m[12] + "000000000")[:9])
	switch {
	case hour == 24 && minute == 0 && second == 0 && nanos == 0: // the end of the day
	case hour > 23, minute > 59, second > 60: // 60 is a leap second
		return time.Time{}, false
	}
	ahead, aheadMinutes := num(15)+num(17), num(16)+num(18)
	if ahead > 23 || aheadMinutes > 59 {
		return time.Time{}, false
	}
	offset := time.Duration(ahead)*time.Hour + time.Duration(aheadMinutes)*time.Minute
	if strings.Contains("-−", m[14]) && m[14] != "" {
		offset = -offset
	}
	return day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute +
		time.Duration(second)*time.Second + time.Duration(nanos) - offset), ok
}

// isoDate is the beginning of a day that is said by month, else by its number in the year, else by
// week.
func isoDate(byMonth, byYear bool, num func(int) int) (day time.Time, ok bool) {
	switch {
	case byMonth:
		day = time.Date(num(1), time.Month(num(2)), num(3), 0, 0, 0, 0, time.UTC)
		return day, day.Month() == time.Month(num(2)) && day.Day() == num(3)
	case byYear:
		day = time.Date(num(4), 1, num(5), 0, 0, 0, 0, time.UTC)
		return day, day.Year() == num(4) && num(5) > 0
	}
	first := time.Date(num(6), 1, 4, 0, 0, 0, 0, time.UTC) // is in week 1
	monday := first.AddDate(0, 0, -(int(first.Weekday())+6)%7)
	day = monday.AddDate(0, 0, 7*(num(7)-1)+num(8)-1)
	year, week := day.ISOWeek()
	return day, year == num(6) && week == num(7)
}
