package report

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/internal/testenv"
)

// A tab is a page in a browser, with what it complained of and what it asked for.
type tab struct {
	ctx context.Context
	url string

	mu         sync.Mutex
	complaints []string
	requests   []string
}

// browse opens pages in a Chromium of its own, which ends with the test.
func browse(t *testing.T) (open func(path string, width, height int64) *tab, ok bool) {
	path, ok := testenv.Browser(t)
	if !ok {
		return nil, false
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	browser, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	t.Cleanup(func() {
		if err := chromedp.Cancel(browser); err != nil {
			t.Errorf("end %s: %v", path, err)
		}
	})
	return func(path string, width, height int64) *tab {
		t.Helper()
		ctx, cancel := chromedp.NewContext(browser)
		t.Cleanup(cancel)
		tab := &tab{ctx: ctx, url: "file://" + path}
		if err := chromedp.Listen(ctx, tab.hear); err != nil {
			t.Fatal(err)
		}
		call(t, ctx, network.Enable, network.EnableParams{})
		call(t, ctx, runtime.Enable, struct{}{})
		call(t, ctx, cdplog.Enable, struct{}{})
		tab.do(t, chromedp.EmulateViewport(width, height), chromedp.Navigate(tab.url))
		return tab
	}, true
}

func call[P, R any](t *testing.T, ctx context.Context, command cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(ctx, command, params); err != nil {
		t.Fatal(err)
	}
}

func (tab *tab) hear(event any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		tab.complaints = append(tab.complaints, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		tab.complaints = append(tab.complaints, e.ExceptionDetails.Text)
	case *cdplog.EventEntryAdded:
		tab.complaints = append(tab.complaints, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		tab.requests = append(tab.requests, e.Request.URL)
	}
}

func (tab *tab) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(tab.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

func run[T any](t *testing.T, tab *tab, action chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(tab.ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// ask evaluates an expression in the page.
func ask[T any](t *testing.T, tab *tab, expression string) T {
	t.Helper()
	return run(t, tab, chromedp.Evaluate[T](expression))
}

// pageOf makes a page of a run, where a browser can open it.
func pageOf(t *testing.T, r Results, stories []Story) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "report.html")
	if err := SaveHTML(path, r, stories); err != nil {
		t.Fatal(err)
	}
	return path
}

// picture keeps a screenshot of the page where a person can look at it, in the folder that this names, if it names one.
const picturesVar = "QUORUMLOCK_PICTURES"

func (tab *tab) picture(t *testing.T, name string) {
	t.Helper()
	png := run(t, tab, chromedp.CaptureScreenshot())
	if dir := os.Getenv(picturesVar); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// smallest is the size in pixels of the smallest text that can be seen inside the element; 0 if there is none.
const smallest = `(root => {
	let least = 0;
	const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || !e.checkVisibility()) continue;
		const size = parseFloat(getComputedStyle(e).fontSize);
		least = least ? Math.min(least, size) : size;
	}
	return least;
})`

func TestPageIsLegibleOnADeskAndOnAPhone(t *testing.T) {
	open, ok := browse(t)
	if !ok {
		return
	}
	r, stories := fixture()
	path := pageOf(t, r, stories)
	for _, width := range []int64{1280, 390} {
		tab := open(path, width, 844)
		tab.picture(t, fmt.Sprintf("top-%d", width))
		if wide := ask[int64](t, tab, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("at %d px the page is %d px wide", width, wide)
		}
		if least := ask[float64](t, tab, smallest+`(document.body)`); least < 10 {
			t.Errorf("at %d px there is text of %v px", width, least)
		}
		for _, part := range []string{"table.matrix", "table.matrix a.cell", "table.lanes", "table.lanes .bar.lease", "table.lanes .bands i.pause", "table.lanes .chip.damage"} {
			visible := ask[bool](t, tab, fmt.Sprintf(`(e => {
				if (!e || !e.checkVisibility()) return false;
				e.scrollIntoView({block: 'center', inline: 'center'});
				const box = e.getBoundingClientRect();
				return box.width >= 5 && box.height >= 5 && box.right > 0 && box.left < innerWidth && box.bottom > 0 && box.top < innerHeight;
			})(document.querySelector('%s'))`, part))
			if !visible {
				t.Errorf("at %d px nobody sees %s", width, part)
			}
		}
		for name, part := range map[string]string{"matrix": "#live .legend", "lanes": ".told", "search": "#sim .legend", "meaning": "#meaning"} {
			tab.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector('%s').scrollIntoView()`, part)))
			tab.picture(t, fmt.Sprintf("%s-%d", name, width))
		}
		tab.silent(t, width)
	}
}

func TestPrintedPageFitsThePaper(t *testing.T) {
	open, ok := browse(t)
	if !ok {
		return
	}
	r, stories := fixture()
	const paper = 1031 // what is between the margins of A4 across, in pixels of 1/96 inch
	tab := open(pageOf(t, r, stories), paper, 700)
	call(t, tab.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	tab.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#sim').scrollIntoView()`))
	tab.picture(t, "print")
	if wide := ask[int](t, tab, `document.documentElement.scrollWidth`); wide > paper {
		t.Errorf("it is %d px wide", wide)
	}
	if least := ask[float64](t, tab, smallest+`(document.body)`); least < 10 {
		t.Errorf("there is text of %v px", least)
	}
}

// silent requires that the page has complained of nothing, and asked for nothing but itself.
func (tab *tab) silent(t *testing.T, width int64) {
	t.Helper()
	tab.mu.Lock()
	defer tab.mu.Unlock()
	if len(tab.complaints) > 0 {
		t.Errorf("at %d px the console says %q", width, tab.complaints)
	}
	for _, request := range tab.requests {
		if request != tab.url && !strings.HasPrefix(request, "data:") {
			t.Errorf("at %d px it asked for %q", width, request)
		}
	}
	if len(tab.requests) == 0 {
		t.Error("not even the request for the page was seen")
	}
}

// The keyboard is enough, and JavaScript is not needed.
func TestACellOfTheMatrixLeadsToItsStory(t *testing.T) {
	open, ok := browse(t)
	if !ok {
		return
	}
	r, stories := fixture()
	path := pageOf(t, r, stories)
	const story = `document.getElementById('live-clock-jump-redlock-none')`
	for _, scripts := range []bool{true, false} {
		tab := open(path, 1280, 844)
		call(t, tab.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
		tab.do(t, chromedp.Reload())
		if ask[bool](t, tab, story+`.checkVisibility()`) {
			t.Fatal("the story is open already")
		}
		tab.do(t, chromedp.Focus(chromedp.CSS(`a.cell[href="#live-clock-jump-redlock-none"]`)), chromedp.KeyEvent("\r"))
		run(t, tab, chromedp.Poll[bool](story+`.querySelector('table.lanes').checkVisibility()`, chromedp.WithPollingTimeout(time.Minute)))
		tab.picture(t, fmt.Sprintf("clock-jump-1280-%v", scripts))
		if top := ask[float64](t, tab, story+`.getBoundingClientRect().top`); top < 0 || top > 844 {
			t.Errorf("the story is open, and %v px away (scripts: %v)", top, scripts)
		}
	}
	tab := open(path+"#live-clock-jump-redlock-none", 390, 844)
	tab.picture(t, "clock-jump-390")
}

// What a scenario is called, and what a server answers, ends up in the page.
func TestHostileNamesAreOnlyText(t *testing.T) {
	open, ok := browse(t)
	if !ok {
		return
	}
	const hostile = `"><img src="http://127.0.0.1:1/x"><script>console.error(1)</script>'{{"` + "`</style></title>\x00\xff"
	c := Cell{World: "live", Scheme: hostile, Fault: hostile, Guard: hostile, Workload: hostile, Verdict: hostile, Expected: hostile, Replay: hostile}
	d := c
	d.World, d.Verdict = "sim", chaos.Breaks
	r := Results{Meta: Meta{Commit: hostile, Redis: hostile, Nodes: hostile}, Run: &Run{hostile, hostile}, Cells: []Cell{c, d},
		Measures: []Measures{{Scheme: hostile}}}
	story := Tell(c, hostile, hostile, hostile, chaos.History{{Actor: hostile, Kind: chaos.Began, Fault: hostile, Text: hostile}, {Actor: hostile, Kind: hostile}})
	story.Steps = append(story.Steps, hostile)
	other := story
	other.Key, other.Events = d.Key(), nil
	tab := open(pageOf(t, r, []Story{story, other}), 390, 844)
	tab.silent(t, 390)
	if n := ask[int](t, tab, `document.querySelectorAll('img').length + document.scripts.length`); n != 1 {
		t.Errorf("the page has %d images and scripts, and should have its own script alone", n)
	}
	if wide := ask[int](t, tab, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d px wide", wide)
	}
}

// What the other tests rely on: that a page which complains, or asks for more than itself, is heard.
func TestBrowserHearsComplaintsAndRequests(t *testing.T) {
	open, ok := browse(t)
	if !ok {
		return
	}
	path := filepath.Join(t.TempDir(), "bad.html")
	if err := os.WriteFile(path, []byte(`<script>console.error('no')</script><img src="http://127.0.0.1:1/x"><script>throw 1</script>`), 0o600); err != nil {
		t.Fatal(err)
	}
	tab := open(path, 390, 844)
	tab.mu.Lock()
	defer tab.mu.Unlock()
	if len(tab.complaints) < 2 || len(tab.requests) != 2 {
		t.Errorf("heard %q and %q", tab.complaints, tab.requests)
	}
}
