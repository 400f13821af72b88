//go:build e2e

package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// pageWithin bounds how long the page may take to show what a test waits for.
const pageWithin = 30 * time.Second

// openBrowser starts a browser that the tabs of one test share, with flags beside those that all have.
func openBrowser(t testing.TB, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		missing(t, "chromium")
	}
	// Its children may write there for a moment longer than it lives.
	profile, err := os.MkdirTemp("", "berth-browser")
	if err != nil {
		t.Fatal(err)
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-quic", true))
	ctx, quit := chromedp.NewExecAllocator(context.Background(), append(flags, more...)...)
	ctx, closeAll := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		closeAll()
		quit()
		_ = os.RemoveAll(profile)
	})
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("starting chromium: %v", err)
	}
	return ctx
}

// tab is one page in a browser. What its script fails with, or is forbidden, fails the test.
type tab struct {
	t    testing.TB
	ctx  context.Context
	base string // of the admin listener

	mu       sync.Mutex // guards what follows
	failures []string
}

// openTab shows a view of the page: "#/tasks" for one.
func openTab(t testing.TB, browser context.Context, base, view string) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	p := &tab{t: t, ctx: ctx, base: base}
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	t.Cleanup(p.wantNoFailure)
	call(p, log.Enable, cdp.Empty{})
	p.size(1280, 800)
	p.run(chromedp.Navigate(base + "/" + view))
	return p
}

// hear keeps exceptions, and what the policy of the page forbade. That a question was refused is told by
// the page itself.
func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.failures = append(p.failures, fmt.Sprint(e.ExceptionDetails.Text, " ", e.ExceptionDetails.Exception.Description))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			for _, argument := range e.Args {
				p.failures = append(p.failures, argument.Description)
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") || strings.Contains(e.Entry.Text, "Trusted") {
			p.failures = append(p.failures, e.Entry.Text)
		}
	}
}

func (p *tab) wantNoFailure() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, failure := range p.failures {
		p.t.Errorf("the page failed: %s", failure)
	}
}

func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pageWithin)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("in the browser: %v", err)
	}
}

// call gives the browser an order of its protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	result, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.t.Fatalf("%s: %v", command.Method, err)
	}
	return result
}

func (p *tab) size(width, height int64) {
	p.t.Helper()
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
}

// colours are the system's: "light" or "dark".
func (p *tab) colours(scheme string) {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// show changes the view, as a link does.
func (p *tab) show(view string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", view)))
}

// eval runs script and returns its value.
func eval[T any](p *tab, script string, options ...chromedp.EvaluateOption) (value T) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pageWithin)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, options...))
	if err != nil {
		p.t.Fatalf("in the browser: %s: %v", script, err)
	}
	return value
}

// text is what an element shows; "" if there is none.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf("(document.querySelector(%q) || {innerText: ''}).innerText", selector))
}

// await waits until an element shows a text.
func (p *tab) await(selector, text string) {
	p.t.Helper()
	if !await(p.t, pageWithin, func() bool { return strings.Contains(p.text(selector), text) }) {
		p.shoot("failed")
		p.t.Fatalf("%s does not show %q; the page shows\n%s", selector, text, p.text("body"))
	}
}

// settle waits until a view is there, whatever it shows.
func (p *tab) settle() {
	p.t.Helper()
	if !await(p.t, pageWithin, func() bool { return eval[bool](p, "!document.querySelector('main[aria-busy]')") }) {
		p.t.Fatalf("the view does not come: %s", p.text("body"))
	}
}

// choose chooses of a list.
func (p *tab) choose(id, value string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("{ const list = document.getElementById(%q); list.value = %q; list.dispatchEvent(new Event('change', {bubbles: true})); }", id, value)))
}

// row is the selector of one row of the first table.
func row(key string) string { return fmt.Sprintf(`tr[data-key="%s"]`, key) }

func (p *tab) click(selector string) {
	p.t.Helper()
	p.run(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// order clicks on what orders something, and confirms it.
func (p *tab) order(selector string) {
	p.t.Helper()
	p.click(selector)
	p.click("#dialog-yes")
}

// shoot writes the whole page as NAME.png to the directory that BERTH_SCREENS names, if it names one.
func (p *tab) shoot(name string) {
	p.t.Helper()
	dir := os.Getenv("BERTH_SCREENS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, pageWithin)
	defer cancel()
	image, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), image, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// wantNoScroll fails the test if the page is wider than its window.
func (p *tab) wantNoScroll() {
	p.t.Helper()
	if over := eval[int](p, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		p.t.Errorf("at %s the page is %d px wider than its window", eval[string](p, "location.hash + ' ' + innerWidth"), over)
	}
}
