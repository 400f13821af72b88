// Package page is the page for operators: files for a browser, which ask /v1 of the listener that
// they came from and nobody else.
//
// It promises that the files hold no data of any berth, so that they may be served to whoever asks; that
// nothing is loaded from elsewhere, and no text from the API becomes markup or script (the policy that
// goes with each file forbids both); and that a browser asks for a file anew only when it has changed.
//
// There is no build step: what stands in ui is what browsers get. ui/main.js is where it begins, and a
// file in ui/views is one view. morph.js is why rows stay where they are when they are told anew.
package page
