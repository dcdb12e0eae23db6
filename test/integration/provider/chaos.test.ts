import { it } from 'vitest';
import { stripeDaySettings } from '../../support/property-settings.ts';
import { expectCleanDay } from '../../support/stripe-day-verdict.ts';
import { liveStripeDay } from '../../support/stripe-day.ts';

it(
  'a morning of chaos at the provider ends with every payment booked once',
  { timeout: 120_000 },
  async () => {
    expectCleanDay(await liveStripeDay({ ...stripeDaySettings(40), openingHours: 2 }));
  },
);
