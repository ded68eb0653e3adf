package lines

import (
	"strings"
	"time"
)

// Clock completes the times of lines that lack a year or a time zone.
type Clock struct {
	// Zone is the time zone of times that have none.
	Zone *time.Location
	// Until is a time after the last line. A time without a year is in the last year before it.
	Until time.Time
}

// digits returns the number in s[from:to], or -1 if there is none.
func digits(s string, from, to int) int {
	if to > len(s) {
		return -1
	}
	n := 0
	for i := from; i < to; i++ {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// dayTime parses hh:mm:ss with an optional fraction, and returns its length; 0 if there is none.
func dayTime(s string) (d time.Duration, length int) {
	if len(s) < 8 || s[2] != ':' || s[5] != ':' {
		return 0, 0
	}
	h, m, sec := digits(s, 0, 2), digits(s, 3, 5), digits(s, 6, 8)
	if h < 0 || h > 23 || m < 0 || m > 59 || sec < 0 || sec > 60 {
		return 0, 0
	}
	d = time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(sec)*time.Second
	length = 8
	if len(s) > 9 && (s[8] == '.' || s[8] == ',') {
		unit := time.Second / 10
		for length = 9; length < len(s) && s[length] >= '0' && s[length] <= '9'; length++ {
			d += unit * time.Duration(s[length]-'0')
			unit /= 10
		}
	}
	return d, length
}

// zoneAt parses Z, +hhmm or +hh:mm, and returns its length; 0 if there is none.
func zoneAt(s string) (offset time.Duration, length int) {
	if strings.HasPrefix(s, "Z") {
		return 0, 1
	}
	if len(s) < 5 || s[0] != '+' && s[0] != '-' {
		return 0, 0
	}
	minutes, length := digits(s, 3, 5), 5
	if s[3] == ':' {
		minutes, length = digits(s, 4, 6), 6
	}
	hours := digits(s, 1, 3)
	if hours < 0 || hours > 14 || minutes < 0 || minutes > 59 {
		return 0, 0
	}
	offset = time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if s[0] == '-' {
		offset = -offset
	}
	return offset, length
}

// date returns a day in UTC; ok is false if there is no such day.
func date(year, month, day int) (t time.Time, ok bool) {
	if year < 1 || month < 1 || month > 12 || day < 1 || day > 31 {
		return t, false
	}
	t = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return t, t.Day() == day
}

// stamp is a time with the rest of its line.
type stamp struct {
	at     time.Time
	zoned  bool // the line names the zone
	digits int  // of the fraction of a second
	rest   string
}

// iso parses a time like 2026-11-28T12:47:26.123Z or 2026/11/28 12:47:26.
func iso(s string, clock *Clock) (found stamp, ok bool) {
	if len(s) < 19 || s[4] != '-' && s[4] != '/' || s[7] != s[4] || s[10] != 'T' && s[10] != ' ' {
		return found, false
	}
	day, ok := date(digits(s, 0, 4), digits(s, 5, 7), digits(s, 8, 10))
	since, length := dayTime(s[11:])
	if !ok || length == 0 {
		return found, false
	}
	rest := s[11+length:]
	offset, zone := zoneAt(rest)
	found = stamp{zoned: zone > 0, digits: max(length-9, 0), rest: rest[zone:]}
	if zone > 0 {
		found.at = day.Add(since - offset)
	} else {
		found.at = clock.local(day.Add(since))
	}
	return found, true
}

// local returns the instant of a wall-clock time in the zone for times that have none.
func (c *Clock) local(t time.Time) time.Time {
	if c.Zone == nil || c.Zone == time.UTC {
		return t
	}
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), c.Zone).UTC()
}

// ahead bounds how much younger than its file a line may be, because clocks and zones differ.
const ahead = 25 * time.Hour

// yearless returns the time of a day without a year: the last such day before the end of the logs.
func (c *Clock) yearless(month, day int, since time.Duration) (time.Time, bool) {
	for year := c.Until.Year() + 1; year > c.Until.Year()-9; year-- { // eight years have a leap day
		if on, ok := date(year, month, day); ok && !on.Add(since).After(c.Until.Add(ahead)) {
			return c.local(on.Add(since)), true
		}
	}
	return time.Time{}, false
}

var months = map[string]int{
	"Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6, "Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12,
}

// syslog parses a time like "Nov 28 12:47:26".
func syslog(s string, clock *Clock) (found stamp, ok bool) {
	if len(s) < 16 || s[3] != ' ' || s[6] != ' ' {
		return found, false
	}
	month, day := months[s[:3]], digits(s, 5, 6)
	if s[4] != ' ' {
		day = digits(s, 4, 6)
	}
	since, length := dayTime(s[7:])
	if month == 0 || length == 0 {
		return found, false
	}
	found.at, ok = clock.yearless(month, day, since)
	found.digits, found.rest = max(length-9, 0), s[7+length:]
	return found, ok
}
