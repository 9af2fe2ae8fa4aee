// The terminal takes no keys before it has the focus, and the app believes that nobody looks at it until it is told of
// a focus: it is given, anew if need be, when the app has begun to draw.
addEventListener("load", () => {
  new MutationObserver((_changes, observer) => {
    if (!document.body.classList.contains("-first-byte")) return;
    observer.disconnect();
    const keys = document.querySelector(".xterm-helper-textarea");
    keys.blur();
    keys.focus();
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
});
