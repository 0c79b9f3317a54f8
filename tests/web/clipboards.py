"""What other programs put onto the clipboard: HTML in the form in which Word, a browser and Google Docs write it."""

from __future__ import annotations

WORD = """<html xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"
xmlns:w="urn:schemas-microsoft-com:office:word" xmlns="http://www.w3.org/TR/REC-html40">
<head><meta http-equiv=Content-Type content="text/html; charset=utf-8"><meta name=Generator content="Microsoft Word 15">
<!--[if gte mso 9]><xml><o:OfficeDocumentSettings><o:AllowPNG/></o:OfficeDocumentSettings></xml><![endif]-->
<!--[if gte mso 9]><xml><w:WordDocument><w:View>Normal</w:View><w:Zoom>0</w:Zoom></w:WordDocument></xml><![endif]-->
<style><!-- p.MsoNormal { margin:0cm; font-family:"Calibri",sans-serif; }
@page WordSection1 { size:595.3pt; } --></style>
</head><body lang=EN-GB style='tab-interval:36.0pt'><!--StartFragment-->
<p class=MsoTitle>Keeping the lamp<o:p></o:p></p>
<h2 style='mso-outline-level:2'><a name="_Toc12345"><span style='font-size:13.0pt;font-weight:700'>The
keeper</span></a><o:p></o:p></h2>
<p class=MsoNormal><span lang=EN-US style='font-size:11.0pt;mso-ansi-language:EN-US'>She&nbsp;was <b
style='mso-bidi-font-weight:normal'>never</b>
<i>late</i>, <s>once</s><span style='mso-spacerun:yes'>  </span>and <u>always</u> calm.</span><o:p></o:p></p>
<p class=MsoNormal><o:p>&nbsp;</o:p></p>
<p class=MsoListParagraphCxSpFirst style='text-indent:-18.0pt;mso-list:l0 level1 lfo1'><![if !supportLists]><span
style='font-family:Symbol;mso-list:Ignore'>·<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;&nbsp;&nbsp;
</span></span><![endif]>Oil<o:p></o:p></p>
<p class=MsoListParagraphCxSpMiddle style='margin-left:72.0pt;mso-list:l0 level2 lfo1'><![if !supportLists]><span
style='font-family:"Courier New";mso-list:Ignore'>o<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;
</span></span><![endif]>Colza<o:p></o:p></p>
<p class=MsoListParagraphCxSpLast style='text-indent:-18.0pt;mso-list:l0 level1 lfo1'><![if !supportLists]><span
style='font-family:Symbol;mso-list:Ignore'>·<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;
</span></span><![endif]>Wicks<o:p></o:p></p>
<p class=MsoNormal>Then:<o:p></o:p></p>
<p class=MsoListParagraphCxSpFirst style='text-indent:-18.0pt;mso-list:l1 level1 lfo2'><![if !supportLists]><span
style='mso-list:Ignore'>1.<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;
</span></span><![endif]>Trim<o:p></o:p></p>
<p class=MsoListParagraphCxSpLast style='text-indent:-18.0pt;mso-list:l1 level1 lfo2'><![if !supportLists]><span
style='mso-list:Ignore'>2.<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;
</span></span><![endif]>Light<o:p></o:p></p>
<table class=MsoTableGrid border=1 style='border-collapse:collapse;mso-yfti-tbllook:1184'>
<tr style='mso-yfti-irow:0'><td width=200 colspan=2><p class=MsoNormal>Watch<o:p></o:p></p></td></tr>
<tr style='mso-yfti-irow:1'><td><p class=MsoNormal>First<o:p></o:p></p><p class=MsoNormal>of all<o:p></o:p></p></td>
<td><p class=MsoNormal>20:00<o:p></o:p></p></td></tr></table>
<p class=MsoNormal><!--[if gte vml 1]><v:shape id="x" style='width:10pt'>
<v:imagedata src="file:///C:/Users/i/image001.png"/></v:shape><![endif]--><![if !vml]><img
width=20 src="file:///C:/Users/i/msohtmlclip1/01/clip_image001.png" alt="The tower"><![endif]> <a
href="https://example.org/lamp"><span style='color:blue'>more</span></a><span
style='display:none;mso-hide:all'>hidden</span><o:p></o:p></p>
<!--EndFragment--></body></html>"""

WORD_MARKDOWN = """# Keeping the lamp

## The keeper

She was **never** *late*, ~~once~~ and always calm.

- Oil
  - Colza
- Wicks

Then:

1. Trim
2. Light

| Watch |  |
| --- | --- |
| First of all | 20:00 |

The tower [more](https://example.org/lamp)
"""

PAGE = """<meta charset='utf-8'><style>.x{background:url(https://tracker.example/x.png)}</style>
<h1 style="color: rgb(32, 33, 34); font-weight: 700;" id="top">Lighthouse</h1>
<p style="margin: 0.5em 0px; font-family: sans-serif;">A <b>lighthouse</b> is a
<a href="https://example.org/wiki/Tower" title="Tower" class="mw-redirect">tower</a><sup
class="reference"><a href="#cite">[1]</a></sup>
with <span style="font-style: italic;">light</span><span></span>.<script>alert(1)</script></p>
<figure><img src="https://tracker.example/pixel.png?u=1" srcset="https://tracker.example/2x.png 2x"
alt="A tower at night" onerror="alert(2)"><figcaption>By night</figcaption></figure>
<div aria-hidden="true">Advertisement</div><svg onload="alert(3)"><text>drawn</text></svg>
<ul class="contains-task-list"><li class="task-list-item"><input type="checkbox" checked disabled> Lit</li>
<li class="task-list-item"><input type="checkbox" disabled> Painted</li></ul>
<pre><code class="language-js"><span class="pl-k">const</span> x = 1;</code></pre>
<p><a href="javascript:alert(4)">Click</a> <iframe src="https://tracker.example/frame"></iframe><button>Share</button></p>"""

PAGE_MARKDOWN = """# Lighthouse

A **lighthouse** is a [tower](https://example.org/wiki/Tower)[1] with *light*.

[A tower at night](https://tracker.example/pixel.png?u=1)

By night

- [x] Lit
- [ ] Painted

```js
const x = 1;
```

Click
"""

DOCS = """<meta charset='utf-8'><b style="font-weight:normal;" id="docs-internal-guid-1234"><p dir="ltr"
style="line-height:1.38;margin-top:0pt;"><span style="font-size:11pt;font-weight:400;font-style:normal;"
>Plain and </span><span style="font-size:11pt;font-weight:700;">bold</span></p><br /><p dir="ltr"><span
 style="font-style:italic">Slanted</span></p></b>"""

DOCS_MARKDOWN = "Plain and **bold**\n\n*Slanted*\n"
