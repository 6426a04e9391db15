;; Markdown that an agent writes has the faces of what it means.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defun face-of (words)
  "The face of WORDS in the buffer of runs."
  (goto-char (point-min))
  (search-forward words)
  (get-text-property (match-beginning 0) 'face))

(play (lambda ()
        (open-agent)
        (axe-run "Plan")
        (wait-for-log "✓ reader: Plan" "Done.")
        (with-current-buffer "*axe runs*"
          (font-lock-ensure)
          (should (equal (mapcar #'face-of '("The plan" "bold" "slanted" "code" "2 *" "Done."))
                         '(bold bold italic font-lock-constant-face nil bold)))
          (should (member "  │ The plan" (visible-lines)))
          (should (member "  │ This is bold and slanted, 2 * 3 * 4, with code." (visible-lines)))
          (should (member "  │ Run ls a*.py b*.txt, then *.md or *.rst." (visible-lines)))
          (should (member "  │ # **not bold**" (visible-lines)))
          (should (member "  │ **nor this**" (visible-lines)))
          (should (member "  │ **nor that, much later**" (visible-lines)))
          (should (member "  │ Done." (visible-lines)))
          (remove-from-invisibility-spec 'axe-markdown)
          (should (member "  │ # The plan" (visible-lines)))
          (should (member "  │ This is **bold** and *slanted*, 2 * 3 * 4, with `code`." (visible-lines)))
          (should (equal (face-of "│ **Done.") 'shadow)))))
